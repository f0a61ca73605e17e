import { CONNECTION_KIND, GROUP, VERSION } from '../../../src/api/group.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { createWhenServed } from '../bind/connection.js';
import { waitConnected } from '../bind/login.js';
import { isLeaving } from '../bind/same-backend.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listConnections } from '../objects.js';
import type { Backend, Connection } from '../typed-objects.js';
import {
  accountSecretName,
  BACKEND_ACCOUNT_ANNOTATION,
  BACKEND_CLUSTER_ANNOTATION,
  BACKEND_URL_ANNOTATION,
  SECRET_NAMESPACE,
} from './account-secret.js';

/** Annotations that say which backend a Secret's account is at. */
export function backendAnnotations(backend: Backend): Record<string, string> {
  return {
    [BACKEND_URL_ANNOTATION]: backend.url,
    ...(backend.clusterID === undefined ? {} : { [BACKEND_CLUSTER_ANNOTATION]: backend.clusterID }),
    ...(backend.account === undefined ? {} : { [BACKEND_ACCOUNT_ANNOTATION]: backend.account }),
  };
}

/** The backend of a connection whose handshake this plugin made; undefined for all others. */
export function localBackend(connection: Connection): Backend | undefined {
  const { annotations, name } = connection.metadata;
  const url = annotations?.[BACKEND_URL_ANNOTATION];
  const secret = connection.spec.kubeconfigSecretRef;
  if (
    url === undefined ||
    secret?.name !== accountSecretName(name) ||
    secret.namespace !== SECRET_NAMESPACE
  ) {
    return undefined;
  }
  const clusterID = annotations?.[BACKEND_CLUSTER_ANNOTATION];
  const account = annotations?.[BACKEND_ACCOUNT_ANNOTATION];
  return {
    url,
    ...(clusterID === undefined ? {} : { clusterID }),
    ...(account === undefined ? {} : { account }),
  };
}

/** A KubeBindConnection that uses the Secret of an account. */
export function secretConnectionManifest(name: string, backend: Backend | undefined): KubeObject {
  return {
    apiVersion: `${GROUP}/${VERSION}`,
    kind: CONNECTION_KIND,
    metadata: { name, ...(backend === undefined ? {} : { annotations: backendAnnotations(backend) }) },
    spec: { kubeconfigSecretRef: { namespace: SECRET_NAMESPACE, name: accountSecretName(name) } },
  };
}

/**
 * The connection of that name, if it uses the Secret of this plugin; undefined where the name is free.
 *
 * @throws PluginError CONFLICT
 */
export async function findSecretConnection(
  context: CommandContext,
  session: Session,
  name: string,
): Promise<Connection | undefined> {
  const all = (await listConnections(session.client, context.signal)) ?? [];
  const found = all.find(({ metadata }) => metadata.name === name);
  if (found === undefined) return undefined;
  const ref = found.spec.kubeconfigSecretRef;
  if (!isLeaving(found) && ref?.namespace === SECRET_NAMESPACE && ref.name === accountSecretName(name)) {
    return found;
  }
  throw new PluginError({
    code: 'CONFLICT',
    message: isLeaving(found)
      ? `KubeBindConnection ${name} is being deleted`
      : `KubeBindConnection ${name} exists and uses other credentials`,
    remedy: isLeaving(found)
      ? 'wait until it is gone, or choose another name with --connection'
      : 'choose another name with --connection',
  });
}

/**
 * Makes sure that a connection to the Secret exists, and waits until the controller has taken the credentials.
 *
 * @throws PluginError CONFLICT; LOGIN where the controller refuses the Secret
 */
export async function ensureSecretConnection(
  context: CommandContext,
  session: Session,
  wish: { readonly name: string; readonly backend: Backend | undefined; readonly wait: boolean },
): Promise<Connection> {
  const existing = await findSecretConnection(context, session, wish.name);
  const connection = existing ?? (await create(context, session, wish));
  if (!wish.wait) return connection;
  context.remains(`KubeBindConnection ${wish.name} exists and is not Connected yet`);
  return waitConnected(context, session, connection);
}

async function create(
  context: CommandContext,
  session: Session,
  wish: { readonly name: string; readonly backend: Backend | undefined },
): Promise<Connection> {
  const manifest = secretConnectionManifest(wish.name, wish.backend);
  try {
    const created = await createWhenServed(context, session, manifest);
    context.report.note(
      `Created KubeBindConnection ${wish.name}, which uses Secret ${SECRET_NAMESPACE}/${accountSecretName(wish.name)}`,
    );
    return created;
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    const found = await findSecretConnection(context, session, wish.name);
    if (found === undefined) throw error;
    return found;
  }
}
