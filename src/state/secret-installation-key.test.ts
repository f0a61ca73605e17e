import { beforeEach, describe, expect, it } from '@jest/globals';
import type { LogicalCluster } from '../kube/object.js';
import type { Account } from './records.js';
import { createConnectionStates } from './secret-connection-states.js';
import { createInstallationKey } from './secret-installation-key.js';
import { memoryKube, status } from './testing/memory-kube-client.js';

const namespace = 'kube-bind';
const SECRET = `secrets ${namespace}/kube-bind-installation`;
const connection = { cluster: '1abc' as LogicalCluster, name: 'cheese', uid: 'u-1' };
const account: Account = {
  source: 'handshake',
  credentials: { server: 'https://p:6443', auth: { kind: 'none' } },
  contractNamespace: 'kb-1',
  offers: [],
  obtainedAt: '2026-01-02T03:04:05.000Z',
};

let kube = memoryKube();
beforeEach(() => {
  kube = memoryKube();
});
const keyOf = (fill: number) =>
  createInstallationKey({ client: kube.client, namespace, random: (n) => new Uint8Array(n).fill(fill) });
const store = (value: Account) =>
  createConnectionStates({ client: kube.client, namespace }).write({
    value: { connection, account: value },
    resourceVersion: undefined,
  });

describe('installation key', () => {
  it('is made once, immutable, and read from then on', async () => {
    expect(await keyOf(1).load()).toEqual(new Uint8Array(32).fill(1));
    expect(await keyOf(2).load()).toEqual(new Uint8Array(32).fill(1));
    expect(kube.objects.get(SECRET)).toMatchObject({ immutable: true });
    expect(kube.calls.filter((call) => call.startsWith('create'))).toHaveLength(1);
  });

  it('is asked for once in a process', async () => {
    const key = keyOf(1);
    await key.load();
    const calls = kube.calls.length;
    await key.load();
    expect(kube.calls).toHaveLength(calls);
  });

  it('is the winner’s where two processes start at once', async () => {
    const [a, b] = await Promise.all([keyOf(1).load(), keyOf(2).load()]);
    expect(a).toEqual(b);
  });

  it('is not made again where an account hangs on it', async () => {
    await store(account);
    await expect(keyOf(1).load()).rejects.toMatchObject({ code: 'INSTALLATION_KEY_LOST' });
    expect(kube.objects.has(SECRET)).toBe(false);
  });

  it('is not made again where an account cannot be read', async () => {
    await store({ ...account, source: 'secret' });
    for (const object of kube.objects.values()) {
      object['data'] = { 'account.json': Buffer.from('{"v":9}').toString('base64') };
    }
    await expect(keyOf(1).load()).rejects.toMatchObject({ code: 'INSTALLATION_KEY_LOST' });
  });

  it('may be made where accounts came from kubeconfigs only', async () => {
    await store({ ...account, source: 'secret' });
    expect(await keyOf(1).load()).toHaveLength(32);
  });

  it('is not made where it is not known whether accounts exist', async () => {
    kube.fail('list', status(403, 'Forbidden', 'secrets'));
    await expect(keyOf(1).load()).rejects.toMatchObject({ status: 403 });
    kube.recover();
    kube.fail('get', status(403, 'Forbidden', 'x'));
    await expect(keyOf(1).load()).rejects.toMatchObject({ status: 403 });
    expect(kube.objects.size).toBe(0);
  });

  it('is refused where the Secret holds something else', async () => {
    await keyOf(1).load();
    Object.assign(kube.objects.get(SECRET) ?? {}, { data: { key: Buffer.from('short').toString('base64') } });
    await expect(keyOf(1).load()).rejects.toMatchObject({ code: 'INSTALLATION_KEY_INVALID' });
  });
});
