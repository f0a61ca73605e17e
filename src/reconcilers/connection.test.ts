import { afterEach, describe, expect, it } from '@jest/globals';
import { BINDINGS, CONNECTIONS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import { BackendError } from '../backend/errors.js';
import { secretHash } from '../state/login/secret-hash.js';
import { at, textAt } from './views.js';
import type { FakeWorld } from './testing/fake-world.js';
import { CREDENTIALS, WORKSPACE } from './testing/fake-world.js';
import { Scenario } from './testing/scenario.js';

let scenario: Scenario;

function begin(): FakeWorld {
  scenario = new Scenario();
  return scenario.world;
}

afterEach(() => scenario.close());

const BACKEND = { backend: { url: 'https://other.test' } };
const state = (world: FakeWorld, name: string) =>
  [...world.disk.states.values()].find(({ value }) => value.connection.name === name)?.value;
const url = (world: FakeWorld, name: string) =>
  textAt(world.connection(name), 'status', 'authentication', 'url');
const phase = (world: FakeWorld, name: string) => textAt(world.connection(name), 'status', 'phase');

const KUBECONFIG = (token: string, namespace = 'contract') =>
  JSON.stringify({
    'current-context': 'x',
    clusters: [{ name: 'x', cluster: { server: 'https://provider.test' } }],
    users: [{ name: 'x', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'x', user: 'x', namespace } }],
  });

describe('a connection to a backend', () => {
  it('publishes a login whose id only status holds', async () => {
    const world = begin();
    world.createConnection('d', BACKEND);
    scenario.start();
    await world.run();
    expect(phase(world, 'd')).toBe('AwaitingLogin');
    const id = url(world, 'd')?.split('.').at(-1) ?? '';
    expect(state(world, 'd')?.login?.idHash).toBe(secretHash(id));
    expect(JSON.stringify(state(world, 'd'))).not.toContain(id);
    expect(textAt(world.connection('d'), 'status', 'authentication', 'userCode')).toMatch(
      /^[A-Z]{4}-[A-Z]{4}$/,
    );
  });

  it('keeps a login over a restart', async () => {
    const world = begin();
    world.createConnection('d', BACKEND);
    scenario.start();
    await world.run();
    const before = url(world, 'd');
    await scenario.restart();
    expect(url(world, 'd')).toBe(before);
  });

  it('puts a URL right that somebody overwrote in status, and makes another one when it is not remembered', async () => {
    const world = begin();
    world.createConnection('d', BACKEND);
    scenario.start();
    await world.run();
    const before = url(world, 'd');
    const overwrite = () =>
      world.kcp.objects.edit(CONNECTIONS, WORKSPACE, 'd', (object) => ({
        ...object,
        status: { ...(object['status'] as object), authentication: { url: 'https://evil.test/login/x' } },
      }));
    overwrite();
    await world.run();
    expect(url(world, 'd')).toBe(before);
    await scenario.close();
    overwrite();
    await scenario.restart();
    expect(url(world, 'd')).toMatch(/^https:\/\/login\.test\//);
    expect(url(world, 'd')).not.toBe(before);
  });

  it('starts one login only, however far caches lag behind', async () => {
    const world = begin();
    world.kcp.later = (deliver) => void world.clock.after(700, deliver);
    world.createConnection('d', BACKEND);
    const { steps } = scenario.start();
    await world.run();
    expect(steps.filter((step) => step === 'connection.login.start')).toHaveLength(1);
    expect(phase(world, 'd')).toBe('AwaitingLogin');
  });

  it('does not renew an expired login, until somebody asks for another', async () => {
    const world = begin();
    world.createConnection('d', BACKEND);
    scenario.start();
    await world.run(11 * 60_000);
    expect(scenario.reason('Authenticated', world.connection('d'))).toBe('LoginExpired');
    expect(url(world, 'd')).toBeUndefined();
    const challenge = 'A'.repeat(43);
    world.kcp.objects.edit(CONNECTIONS, WORKSPACE, 'd', (object) => ({
      ...object,
      spec: { ...BACKEND, login: { challenge } },
    }));
    await world.run();
    expect(phase(world, 'd')).toBe('AwaitingLogin');
    expect(textAt(world.connection('d'), 'status', 'authentication', 'userCode')).toBeUndefined();
  });

  it('says what is wrong with the backend, asks again by itself and then starts the login', async () => {
    const world = begin();
    const good = world.provider;
    world.provider = async () =>
      Promise.reject(new BackendError('BACKEND_NOT_A_BACKEND', 'a web page answers'));
    world.createConnection('d', BACKEND);
    scenario.start();
    await world.run();
    expect(scenario.reason('BackendReachable', world.connection('d'))).toBe('NotABackend');
    expect(state(world, 'd')).toBeUndefined();
    world.provider = good;
    await world.run(6 * 60_000);
    expect(phase(world, 'd')).toBe('AwaitingLogin');
  });

  it('is not held up by another one whose backend never answers', async () => {
    const world = begin();
    world.provider = () => new Promise(() => undefined);
    for (let i = 0; i < 50; i++) world.createConnection(`slow-${String(i)}`, BACKEND);
    scenario.start();
    await world.run();
    world.createBinding('b', { connection: 'c', template: 'widgets' });
    await world.run();
    expect(scenario.phase()).toBe('Ready');
  });

  it('passes the heartbeat on to the next oldest binding', async () => {
    const world = begin();
    const { pool } = await scenario.bind();
    world.createBinding('next', { connection: 'c', template: 'widgets' });
    await world.run();
    const key = scenario.poolKey('next');
    expect(pool.assigned.get(scenario.poolKey())?.heartbeat).toBeDefined();
    expect(pool.assigned.get(key)?.heartbeat).toBeUndefined();
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expect(pool.assigned.get(key)?.heartbeat).toBeDefined();
  });

  it('stores credentials that the provider rotated, and hands them to its workers', async () => {
    const world = begin();
    const { pool } = await scenario.bind();
    const rotated = { ...CREDENTIALS, auth: { kind: 'token', token: 'rotated' } } as const;
    world.worker = (assignment) => ({ ...world.goodWorker(assignment), rotatedCredentials: rotated });
    pool.say(scenario.poolKey());
    await world.run();
    expect(state(world, 'c')?.account?.credentials).toEqual(rotated);
    expect(pool.assigned.get(scenario.poolKey())?.provider.credentials).toEqual(rotated);
  });

  it('writes no status when only figures of its bindings change', async () => {
    const world = begin();
    const { pool, steps } = await scenario.bind();
    const before = steps.filter((step) => step === 'connection.status').length;
    let objects = 0;
    world.worker = (assignment) => ({
      ...world.goodWorker(assignment),
      sync: { objects: ++objects, pending: 0, failing: 0 },
    });
    for (let i = 0; i < 20; i++) {
      pool.say(scenario.poolKey());
      await world.run(1_000);
    }
    expect(steps.filter((step) => step === 'connection.status')).toHaveLength(before);
  });
});

describe('a connection with a kubeconfig', () => {
  const spec = { kubeconfigSecretRef: { namespace: 'default', name: 's' } };
  const secret = (
    text: string,
    labels: Record<string, string> = { 'kcp.kube-bind.io/credentials': 'true' },
  ) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's', namespace: 'default', labels },
    data: { kubeconfig: Buffer.from(text).toString('base64') },
  });

  it('copies it, and again whenever it changes', async () => {
    const world = begin();
    world.kcp.objects.create(GVR.secrets, WORKSPACE, secret(KUBECONFIG('one')));
    world.createConnection('k', spec);
    const process = scenario.start();
    await world.run();
    expect(phase(world, 'k')).toBe('Connected');
    expect(state(world, 'k')?.account).toMatchObject({ source: 'secret', contractNamespace: 'contract' });
    const now = world.kcp.objects.get(GVR.secrets, WORKSPACE, 's', 'default');
    world.kcp.objects.replace(GVR.secrets, WORKSPACE, { ...now, data: secret(KUBECONFIG('two')).data });
    await world.run();
    expect(state(world, 'k')?.account?.credentials.auth).toEqual({ kind: 'token', token: 'two' });
    expect(process.steps.filter((step) => step === 'connection.account.store')).toHaveLength(2);
  });

  it('does not touch a Secret without the label', async () => {
    const world = begin();
    world.kcp.objects.create(GVR.secrets, WORKSPACE, secret(KUBECONFIG('one'), {}));
    world.createConnection('k', spec);
    scenario.start();
    await world.run();
    expect(state(world, 'k')).toBeUndefined();
    expect(scenario.reason('Authenticated', world.connection('k'))).toBe('SecretNotLabelled');
  });

  it('names the field of a kubeconfig that may not be used', async () => {
    const world = begin();
    const bad = KUBECONFIG('one').replace('"token":"one"', '"exec":{}');
    world.kcp.objects.create(GVR.secrets, WORKSPACE, secret(bad));
    world.createConnection('k', spec);
    scenario.start();
    await world.run();
    expect(scenario.condition('Authenticated', world.connection('k'))).toMatchObject({
      reason: 'KubeconfigInvalid',
    });
    expect(textAt(scenario.condition('Authenticated', world.connection('k')), 'message')).toContain(
      'users[0].user.exec',
    );
  });

  it('has no condition about a backend, and goes on when the Secret has gone', async () => {
    const world = begin();
    world.kcp.objects.create(GVR.secrets, WORKSPACE, secret(KUBECONFIG('one')));
    world.createConnection('k', spec);
    scenario.start();
    await world.run();
    world.kcp.objects.delete(GVR.secrets, WORKSPACE, 's', { namespace: 'default' });
    await world.run();
    expect(scenario.condition('BackendReachable', world.connection('k'))).toBeUndefined();
    expect(phase(world, 'k')).toBe('Connected');
    expect(at(state(world, 'k')?.account?.credentials.auth as never, 'token')).toBe('one');
  });
});

describe('status of a binding', () => {
  const statusWrites = (steps: readonly string[]) => steps.filter((step) => step === 'binding.status').length;

  it('shows figures at most each ten seconds, and the last ones in the end', async () => {
    const world = begin();
    const { pool, steps } = await scenario.bind();
    const before = statusWrites(steps);
    let objects = 0;
    world.worker = (assignment) => ({
      ...world.goodWorker(assignment),
      sync: { objects: ++objects, pending: 0, failing: 0 },
    });
    for (let i = 0; i < 30; i++) {
      pool.say(scenario.poolKey());
      await world.run(1_000);
    }
    await world.run(10_000);
    expect(statusWrites(steps) - before).toBeGreaterThanOrEqual(3);
    expect(statusWrites(steps) - before).toBeLessThanOrEqual(5);
    expect(at(world.binding('b'), 'status', 'sync', 'objects')).toBe(30);
  });

  it('is not written when only the time of the last sync differs', async () => {
    const world = begin();
    const { pool, steps } = await scenario.bind();
    const before = statusWrites(steps);
    let second = 0;
    world.worker = (assignment) => ({
      ...world.goodWorker(assignment),
      sync: { objects: 0, pending: 0, failing: 0, lastSyncTime: `2026-01-01T00:00:0${String(second++)}Z` },
    });
    for (let i = 0; i < 5; i++) {
      pool.say(scenario.poolKey());
      await world.run(15_000);
    }
    expect(statusWrites(steps) - before).toBeLessThanOrEqual(1);
  });

  it('is put right when somebody else writes it', async () => {
    const world = begin();
    await scenario.bind();
    world.kcp.objects.edit(BINDINGS, WORKSPACE, 'b', (object) => ({
      ...object,
      status: { phase: 'Pending', apis: [] },
    }));
    await world.run();
    expect(scenario.phase()).toBe('Ready');
  });
});
