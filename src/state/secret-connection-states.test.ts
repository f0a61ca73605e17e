import { beforeEach, describe, expect, it } from '@jest/globals';
import { GVR } from '../api/gvr.js';
import { COMPONENT_LABEL } from '../api/markers.js';
import { connectionStateName } from '../api/names.js';
import type { ObjectStore, StoreChange } from '../kube/cache/object-store.js';
import { ApiError } from '../kube/errors.js';
import type { KubeObject, LogicalCluster } from '../kube/object.js';
import { startLogin } from './login/start-login.js';
import type { Account, ConnectionRef, ConnectionState } from './records.js';
import { createConnectionStates } from './secret-connection-states.js';
import { memoryKube, status } from './testing/memory-kube-client.js';

const namespace = 'kube-bind';
const connection: ConnectionRef = { cluster: '1abc' as LogicalCluster, name: 'cheese', uid: 'u-1' };
const stateName = connectionStateName('1abc', 'u-1');
const account: Account = {
  source: 'handshake',
  credentials: {
    server: 'https://p:6443',
    ca: 'PEM',
    auth: { kind: 'token', token: 't' },
    namespace: 'kb-1',
  },
  contractNamespace: 'kb-1',
  offers: [
    {
      template: 'cheeses',
      scope: 'Namespaced',
      resources: [{ group: 'dairy.example', resource: 'cheeses', versions: ['v1'] }],
      permissionClaims: [
        { group: '', resource: 'secrets', selector: { labelSelector: { matchLabels: { a: 'b' } } } },
      ],
    },
  ],
  obtainedAt: '2026-01-02T03:04:05.000Z',
};
const { login } = startLogin({ clock: { now: () => 0 }, random: (n) => new Uint8Array(n) });
const full: ConnectionState = { connection, account, login };

let kube = memoryKube();
let states = createConnectionStates({ client: kube.client, namespace });
beforeEach(() => {
  kube = memoryKube();
  states = createConnectionStates({ client: kube.client, namespace });
});

function secret(): KubeObject {
  const object = kube.objects.get(`secrets ${namespace}/${stateName}`);
  if (object === undefined) throw new Error('no Secret');
  return object;
}
function replaceRecord(key: string, record: unknown): void {
  const text = typeof record === 'string' ? record : JSON.stringify(record);
  (secret()['data'] as Record<string, string>)[key] = Buffer.from(text).toString('base64');
}

describe('connection states', () => {
  it('gives an empty state before the first write, and what was written after it', async () => {
    const empty = await states.read(connection);
    expect(empty).toEqual({ value: { connection }, resourceVersion: undefined });
    const written = await states.write({ ...empty, value: full });
    expect(await states.read(connection)).toEqual(written);
    expect(await states.readByName(stateName)).toEqual(written);
    expect(written.value).toEqual(full);
  });

  it('marks its Secrets so that people and reflectors find them', async () => {
    await states.write({ value: full, resourceVersion: undefined });
    expect(secret().metadata.labels).toEqual({
      'kcp.kube-bind.io/component': 'connection-state',
      'kcp.kube-bind.io/cluster': '1abc',
      'kcp.kube-bind.io/connection-uid': 'u-1',
    });
  });

  it('drops a record that the new value does not have', async () => {
    const first = await states.write({ value: full, resourceVersion: undefined });
    await states.write({ ...first, value: { connection, account } });
    expect((await states.read(connection)).value).toEqual({ connection, account });
  });

  it('refuses a write that was overtaken, for the first write too', async () => {
    const first = await states.write({ value: { connection }, resourceVersion: undefined });
    await states.write({ ...first, value: full });
    await expect(states.write({ ...first, value: { connection } })).rejects.toMatchObject({ status: 409 });
    await expect(states.write({ value: full, resourceVersion: undefined })).rejects.toMatchObject({
      status: 409,
    });
    expect((await states.read(connection)).value).toEqual(full);
  });

  it.each(['', 'kube-bind-installation', '../secrets/x', `${stateName}x`, 'connection-ABCDEFABCDEFABCDEFAB'])(
    'asks for nothing by the name %p',
    async (name) => {
      expect(await states.readByName(name)).toBeUndefined();
      expect(kube.calls).toEqual([]);
    },
  );

  it('does not read a Secret of that name that is not marked as ours', async () => {
    await states.write({ value: full, resourceVersion: undefined });
    Reflect.deleteProperty(secret().metadata.labels ?? {}, COMPONENT_LABEL);
    expect(await states.readByName(stateName)).toBeUndefined();
  });

  it('takes only a NotFound for the object as absent', async () => {
    kube.fail('get', new ApiError({ message: 'proxy says no', status: 404, reason: '' }));
    await expect(states.read(connection)).rejects.toMatchObject({ status: 404 });
    kube.fail('get', status(403, 'Forbidden', 'x'));
    await expect(states.readByName(stateName)).rejects.toMatchObject({ status: 403 });
  });

  it.each([
    ['STATE_TOO_NEW', 'account.json', { ...account, v: 2 }],
    ['STATE_INVALID', 'account.json', account],
    ['STATE_INVALID', 'account.json', '{'],
    ['STATE_INVALID', 'login.json', { v: 1, ...login, stage: 'winning' }],
    ['STATE_INVALID', 'connection.json', { v: 1, cluster: 'other', name: 'cheese', uid: 'u-1' }],
    [
      'STATE_INVALID',
      'account.json',
      { v: 1, ...account, credentials: { server: 'https://p', auth: { kind: 'tokenFile', path: '/etc/x' } } },
    ],
  ])('refuses with %s a damaged %s', async (code, key, record) => {
    await states.write({ value: full, resourceVersion: undefined });
    replaceRecord(key, record);
    await expect(states.read(connection)).rejects.toMatchObject({ code });
  });

  it('keeps fields that it does not know', async () => {
    await states.write({ value: full, resourceVersion: undefined });
    replaceRecord('login.json', { v: 1, ...login, note: 'from a later patch' });
    expect((await states.read(connection)).value.login).toMatchObject({ note: 'from a later patch' });
  });

  it('refuses what a Secret cannot hold', async () => {
    const huge = { ...account, offers: [{ ...account.offers[0]!, description: 'x'.repeat(1024 * 1024) }] };
    const write = states.write({ value: { connection, account: huge }, resourceVersion: undefined });
    await expect(write).rejects.toMatchObject({ code: 'STATE_TOO_LARGE' });
    expect(kube.calls).toEqual([]);
  });

  it('removes, also what is not there', async () => {
    await states.write({ value: full, resourceVersion: undefined });
    await states.remove(connection);
    await states.remove(connection);
    expect(kube.objects.size).toBe(0);
  });

  it('lists all pages and passes over what it cannot read', async () => {
    for (let i = 0; i < 120; i++) {
      const ref = { ...connection, uid: `u-${i}` };
      await states.write({ value: { connection: ref }, resourceVersion: undefined });
    }
    replaceRecord('connection.json', 'broken');
    const listed = await states.list();
    expect(listed).toHaveLength(119);
    expect(listed).not.toContainEqual(connection);
  });

  it('does not take a failed page for the end', async () => {
    kube.fail('list', status(500, 'InternalError', 'x'));
    await expect(states.list()).rejects.toMatchObject({ status: 500 });
  });
});

describe('changes', () => {
  it('are told for own writes where nothing is followed', async () => {
    const seen: ConnectionRef[] = [];
    const stop = states.onChange((ref) => seen.push(ref));
    await states.write({ value: full, resourceVersion: undefined });
    await states.remove(connection);
    stop();
    await states.write({ value: full, resourceVersion: undefined });
    expect(seen).toEqual([connection, connection]);
  });

  it('are told from the followed Secrets, once for each version', async () => {
    let tell: (change: StoreChange) => void = () => undefined;
    const store = {
      subscribe: (listener: typeof tell) => {
        tell = listener;
        return () => undefined;
      },
    } as unknown as ObjectStore;
    states = createConnectionStates({ client: kube.client, namespace, store });
    const seen: ConnectionRef[] = [];
    states.onChange((ref) => seen.push(ref));
    await states.write({ value: full, resourceVersion: undefined });
    expect(seen).toEqual([]);
    const object = await kube.client.get(GVR.secrets, { namespace, name: stateName });
    const key = { cluster: 'client' as LogicalCluster, namespace, name: stateName };
    tell({ type: 'set', key, object, previous: undefined });
    tell({ type: 'set', key, object, previous: object });
    tell({ type: 'missing', key, previous: object });
    tell({ type: 'set', key, object: { ...object, data: {} }, previous: undefined });
    expect(seen).toEqual([connection, connection]);
  });
});
