import { CONNECTIONS } from '../../api/group.js';
import { CONNECTION_UID_LABEL } from '../../api/markers.js';
import { connectionStateName } from '../../api/names.js';
import { isObjectNotFound } from '../../kube/errors.js';
import type { KubeObject } from '../../kube/object.js';
import type { WorkspaceClient } from '../../vw-client/virtual-workspace.js';
import type { ConnectionStates } from '../../state/connection-states.js';
import type { ConnectionRef } from '../../state/records.js';
import type { StateCache } from '../state-cache.js';
import { isDeleting } from '../views.js';
import type { WorkspaceIndex } from '../workspace-index.js';
import type { ConnectionView } from './observation.js';
import type { BindingRef } from './owner.js';

export interface ConnectionSources {
  readonly index: WorkspaceIndex;
  readonly workspace: WorkspaceClient;
  readonly states: StateCache;
  readonly allStates: ConnectionStates;
}

/**
 * The connection that a binding names, with its account. For a binding that is being taken apart it is the one that
 * its export was made for, not another one that has the name by now; its account is also looked for in the client
 * workspace alone, where it outlives its connection.
 */
export async function findConnection(
  ref: BindingRef,
  name: string,
  sources: ConnectionSources,
  cleanup: { readonly deleting: boolean; readonly generated: KubeObject | undefined },
): Promise<ConnectionView> {
  const object =
    sources.index.connections.get({ cluster: ref.cluster, name }) ?? (await askFor(name, sources.workspace));
  const uid = object?.metadata.uid;
  const recorded = cleanup.generated?.metadata.labels?.[CONNECTION_UID_LABEL];
  const isOther = cleanup.deleting && recorded !== undefined && uid !== recorded;
  if (object !== undefined && uid !== undefined && !isOther) {
    return view({ cluster: ref.cluster, name, uid }, isDeleting(object), sources.states);
  }
  if (!cleanup.deleting) return { kind: 'missing' };
  const stored = (await sources.allStates.list()).filter(
    (state) =>
      state.cluster === ref.cluster &&
      (recorded === undefined ? state.name === name : state.uid === recorded),
  );
  const [only] = stored;
  return only !== undefined && stored.length === 1 ? view(only, true, sources.states) : { kind: 'missing' };
}

/** A store may be behind, or not filled yet. */
async function askFor(name: string, workspace: WorkspaceClient): Promise<KubeObject | undefined> {
  if (name === '') return undefined;
  try {
    return await workspace.get(CONNECTIONS, { name });
  } catch (error) {
    if (isObjectNotFound(error)) return undefined;
    throw error;
  }
}

async function view(
  connection: ConnectionRef,
  deleting: boolean,
  states: StateCache,
): Promise<ConnectionView> {
  const { value } = await states.read(connection);
  return {
    kind: 'present',
    name: connection.name,
    uid: connection.uid,
    deleting,
    account: value.account,
    stateName: connectionStateName(connection.cluster, connection.uid),
  };
}
