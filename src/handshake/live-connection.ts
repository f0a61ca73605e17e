import { CONNECTIONS, GROUP } from '../api/group.js';
import { ApiError } from '../kube/errors.js';
import { isJsonObject } from '../kube/json-value.js';
import type { JsonObject } from '../kube/json-value.js';
import type { KubeObject } from '../kube/object.js';
import type { ConnectionRef } from '../state/records.js';
import type { WorkspaceClient } from '../vw-client/virtual-workspace.js';
import { PageProblem } from './problems.js';

/** `spec.backend`, defaults filled in. */
export interface BackendSpec {
  readonly url: string;
  readonly clusterID: string | undefined;
  readonly caBundle: string | undefined;
  readonly account: string;
}

/** What the login pages need of a KubeBindConnection, read just now. */
export interface LiveConnection {
  readonly ref: ConnectionRef;
  readonly backend: BackendSpec;
  /** `spec.login.challenge`. */
  readonly challenge: string | undefined;
  /** From status: shown, never trusted. */
  readonly prettyName: string | undefined;
  /** `status.authentication.url`: where a login that was started since can be found. */
  readonly publishedUrl: string | undefined;
}

/**
 * Reads the connection live. Every effect of a login is preceded by this, so that a login for an object that was
 * deleted, or made again under the same name, leads to nothing.
 *
 * @throws PageProblem `connection-gone`, `connection-deleting`, `no-backend`, `kcp-unavailable`
 */
export async function readConnection(
  workspace: WorkspaceClient,
  ref: ConnectionRef,
): Promise<LiveConnection> {
  const object = await getConnection(workspace, ref);
  if (object.metadata.uid !== ref.uid) throw new PageProblem('connection-gone');
  if (object.metadata.deletionTimestamp !== undefined) throw new PageProblem('connection-deleting');
  const backend = part(part(object, 'spec'), 'backend');
  const url = text(backend, 'url');
  if (url === undefined) throw new PageProblem('no-backend');
  const status = part(object, 'status');
  return {
    ref,
    backend: {
      url,
      clusterID: text(backend, 'clusterID'),
      caBundle: text(backend, 'caBundle'),
      account: text(backend, 'account') ?? 'default',
    },
    challenge: text(part(part(object, 'spec'), 'login'), 'challenge'),
    prettyName: text(part(status, 'provider'), 'prettyName'),
    publishedUrl: text(part(status, 'authentication'), 'url'),
  };
}

async function getConnection(workspace: WorkspaceClient, ref: ConnectionRef): Promise<KubeObject> {
  try {
    return await workspace.get(CONNECTIONS, { name: ref.name });
  } catch (error) {
    // Only an answer that names the object says that it is gone; anything else may be a workspace out of sight.
    if (error instanceof ApiError && error.status === 404 && names(error, ref.name)) {
      throw new PageProblem('connection-gone', { cause: error });
    }
    throw new PageProblem('kcp-unavailable', { cause: error });
  }
}

function names(error: ApiError, name: string): boolean {
  const details = part(error.body, 'details');
  return (
    error.reason === 'NotFound' &&
    text(details, 'name') === name &&
    (text(details, 'group') ?? GROUP) === GROUP
  );
}

export function part(value: JsonObject | undefined, key: string): JsonObject | undefined {
  const found = value?.[key];
  return isJsonObject(found) ? found : undefined;
}

export function text(value: JsonObject | undefined, key: string): string | undefined {
  const found = value?.[key];
  return typeof found === 'string' && found !== '' ? found : undefined;
}
