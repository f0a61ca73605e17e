import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import { connectionStateName } from '../../api/names.js';
import { sanitizeKubeconfig } from '../../kube/kubeconfig-sanitizer.js';
import type { LogicalCluster } from '../../kube/object.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import type { ConnectionStates } from '../../state/connection-states.js';
import { loginUrl } from '../../state/login/login-url.js';
import { challengeOf } from '../../state/login/secret-hash.js';
import { startLogin } from '../../state/login/start-login.js';
import type { ConnectionState } from '../../state/records.js';
import { createConnectionStates } from '../../state/secret-connection-states.js';
import { createInstallationKey } from '../../state/secret-installation-key.js';
import { memoryKube } from '../../state/testing/memory-kube-client.js';
import { createLogger } from '../../telemetry/logger.js';
import { createMetricsRegistry } from '../../telemetry/metrics.js';
import { createHandshakeServer } from '../handshake-server.js';
import type { HandshakeServer, HandshakeServerOptions } from '../handshake-server.js';
import { Browser } from './browser.js';
import { fakeBackend } from './fake-backend.js';
import { addConnection, addWorkspace, fakeWorkspaces, stored } from './fake-workspaces.js';

const CLUSTER = '1abcdef' as LogicalCluster;
export const PATH = 'root:team:dev';
export const CONNECTION = { cluster: CLUSTER, name: 'dairy', uid: 'uid-dairy' };
export const STATE_NAME = connectionStateName(CLUSTER, CONNECTION.uid);
export const VERIFIER = 'verifier-of-the-plugin';
const BACKEND_URL = 'https://bind.example.com';
export const EXTERNAL = 'https://login.example.com';

/** A server over fakes, with one workspace and one connection in it. */
export async function handshakeWorld(
  settings: Partial<HandshakeServerOptions> & { backendUrl?: string } = {},
) {
  const { backendUrl = BACKEND_URL, ...overrides } = settings;
  const clientWorkspace = memoryKube();
  const states = createConnectionStates({ client: clientWorkspace.client, namespace: 'kube-bind' });
  const workspaces = fakeWorkspaces();
  const workspace = workspaces.at(CLUSTER);
  const backend = fakeBackend();
  const clock = new ManualClock(Date.parse('2026-01-02T03:04:05.000Z'));
  const random = deterministicRandom();
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const options: HandshakeServerOptions = {
    states,
    installationKey: createInstallationKey({
      client: clientWorkspace.client,
      namespace: 'kube-bind',
      random,
    }),
    workspaces: workspaces.virtual,
    backendApi: backend.api,
    sanitize: (text) => sanitizeKubeconfig(text, { allowProxy: false }),
    externalUrl: EXTERNAL,
    clock,
    random,
    log: createLogger({ level: 'debug', destination }),
    metrics: createMetricsRegistry(),
    ready: () => ({ ready: true, checks: [] }),
    isLeader: () => true,
    ...overrides,
  };
  await addWorkspace(workspace, PATH);
  await addConnection(workspace, { ...CONNECTION, spec: { backend: { url: backendUrl } } });
  const server = await createHandshakeServer(options);
  const servers: HandshakeServer[] = [server];

  return {
    server,
    states,
    workspace,
    clientWorkspace,
    backend,
    clock,
    /** Everything that was logged. */
    log: () => lines.join(''),
    browser: () => new Browser(server),
    state: async () => (await states.read(CONNECTION)).value,
    connection: () => stored(workspace, 'kubebindconnections', CONNECTION.name),
    /** What the connection reconciler does: another login, stored and published. */
    publish: (verifier?: string) => publish({ states, workspace, clock, random }, verifier),
    /** Another process on the same client workspace. */
    restart: async () => {
      const next = await createHandshakeServer({ ...options, metrics: createMetricsRegistry() });
      servers.push(next);
      return next;
    },
    close: async () => {
      await Promise.all(servers.map((each) => each.close()));
    },
  };
}

export type HandshakeWorld = Awaited<ReturnType<typeof handshakeWorld>>;

async function publish(
  world: {
    readonly states: ConnectionStates;
    readonly workspace: ReturnType<typeof memoryKube>;
    readonly clock: ManualClock;
    readonly random: (bytes: number) => Uint8Array;
  },
  verifier: string | undefined,
) {
  const { clock, random, states } = world;
  const challenge = verifier === undefined ? undefined : challengeOf(verifier);
  const { login, id, userCode } = startLogin({ clock, random, challenge });
  const state = await states.read(CONNECTION);
  const value: ConnectionState = { ...state.value, login };
  await states.write({ ...state, value });
  const url = loginUrl(EXTERNAL, STATE_NAME, id);
  const object = stored(world.workspace, 'kubebindconnections', CONNECTION.name);
  object['status'] = { authentication: { url }, provider: { prettyName: 'BigCorp' } };
  const spec = object['spec'] as Record<string, unknown>;
  if (challenge === undefined) Reflect.deleteProperty(spec, 'login');
  else spec['login'] = { challenge };
  return { url, id, userCode: userCode ?? '' };
}

/** The same bytes in each run, never the same twice in one. */
function deterministicRandom(): (bytes: number) => Uint8Array {
  let count = 0;
  return (bytes) => {
    count += 1;
    const block = createHash('sha512').update(`seed ${count}`).digest();
    return new Uint8Array(block.subarray(0, bytes));
  };
}
