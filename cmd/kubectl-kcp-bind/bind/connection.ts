import { CONNECTIONS } from '../../../src/api/group.js';
import { isObjectNotFound, isStatus } from '../../../src/kube/errors.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listConnections } from '../objects.js';
import { asConnection, type Backend, type Connection } from '../typed-objects.js';
import { createLoginSecret, type LoginSecret } from './challenge.js';
import { connectionManifest } from './manifests.js';
import { chooseConnection, isLeaving, type ConnectionChoice } from './same-backend.js';

/** Which connection is wanted. */
export interface ConnectionWish {
  readonly backend: Backend;
  /** `--connection` */
  readonly name: string | undefined;
  readonly derivedName: string;
}

/** A connection, and the secret of the login that this run has asked for. */
export interface OpenConnection {
  readonly connection: Connection;
  /** Absent: it is Connected already, no login is needed. */
  readonly login: LoginSecret | undefined;
}

/**
 * The connection that a run uses, without writing anything.
 *
 * @throws PluginError CONFLICT
 */
export async function findConnection(
  context: CommandContext,
  session: Session,
  wish: ConnectionWish,
): Promise<Exclude<ConnectionChoice, { kind: 'conflict' }>> {
  const connections = (await listConnections(session.client, context.signal)) ?? [];
  const choice = chooseConnection(connections, wish);
  if (choice.kind !== 'conflict') return choice;
  const { name } = choice.connection.metadata;
  if (isLeaving(choice.connection)) {
    throw new PluginError({
      code: 'CONFLICT',
      message: `KubeBindConnection ${name} is being deleted`,
      remedy:
        'wait until it is gone (kubectl get kubebindconnections), or choose another name with --connection',
    });
  }
  throw new PluginError({
    code: 'CONFLICT',
    message: `KubeBindConnection ${name} exists and is for ${choice.connection.spec.backend?.url ?? 'a kubeconfig of a Secret'} (or another account or cluster there)`,
    remedy: 'choose another name with --connection',
  });
}

/**
 * Makes sure that the connection exists, and asks for a login where it is not Connected: the verifier of an
 * earlier run is lost, so a connection that waits for one gets a new challenge.
 */
export async function ensureConnection(
  context: CommandContext,
  session: Session,
  wish: ConnectionWish,
): Promise<OpenConnection> {
  const choice = await findConnection(context, session, wish);
  if (choice.kind === 'use') {
    const { connection } = choice;
    if (connection.status?.phase === 'Connected') return { connection, login: undefined };
    return startLogin(context, session, connection.metadata.name);
  }
  const login = createLoginSecret(context.effects.randomBytes);
  const manifest = connectionManifest({
    name: choice.name,
    backend: wish.backend,
    challenge: login.challenge,
  });
  try {
    const created = await createWhenServed(context, session, manifest);
    return { connection: created, login };
  } catch (error) {
    if (isStatus(error, 409)) return ensureConnection(context, session, wish);
    throw error;
  }
}

/** Asks for a new login of an existing connection, whatever its phase. */
export async function startLogin(
  context: CommandContext,
  session: Session,
  name: string,
): Promise<OpenConnection> {
  const login = createLoginSecret(context.effects.randomBytes);
  const changed = await session.client.patch(
    CONNECTIONS,
    { name },
    'merge',
    { spec: { login: { challenge: login.challenge } } },
    { signal: context.signal },
  );
  return { connection: asConnection(changed), login };
}

const SERVED_ATTEMPTS = 20;
const SERVED_PAUSE_MS = 500;

/** Creates a connection. Bound does not mean served: for some seconds after binding the kind may still be unknown (404). */
export async function createWhenServed(
  context: CommandContext,
  session: Session,
  manifest: ReturnType<typeof connectionManifest>,
): Promise<Connection> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return asConnection(await session.client.create(CONNECTIONS, manifest, { signal: context.signal }));
    } catch (error) {
      if (!isStatus(error, 404) || isObjectNotFound(error) || attempt === SERVED_ATTEMPTS) throw error;
      await context.effects.clock.sleep(SERVED_PAUSE_MS, context.signal);
    }
  }
}
