import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { loadKubeconfig } from './kubeconfig.js';

const directory = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
afterAll(() => rmSync(directory, { recursive: true }));

const base64 = (text: string): string => Buffer.from(text).toString('base64');

function kubeconfig(
  parts: { readonly cluster?: object; readonly user?: object; readonly root?: object } = {},
): string {
  return stringify({
    'current-context': 'main',
    contexts: [
      { name: 'main', context: { cluster: 'c', user: 'u', namespace: 'n' } },
      { name: 'other', context: { cluster: 'c2', user: 'u' } },
    ],
    clusters: [
      { name: 'c', cluster: { server: 'https://kube.test:6443/clusters/root/', ...parts.cluster } },
      { name: 'c2', cluster: { server: 'https://other.test' } },
    ],
    users: [{ name: 'u', user: { token: 'secret', ...parts.user } }],
    ...parts.root,
  });
}

describe('loadKubeconfig', () => {
  it('loads the current context, or another', async () => {
    await expect(loadKubeconfig({ text: kubeconfig() })).resolves.toEqual({
      server: 'https://kube.test:6443/clusters/root',
      auth: { kind: 'token', token: 'secret' },
      namespace: 'n',
    });
    await expect(loadKubeconfig({ text: kubeconfig(), context: 'other' })).resolves.toMatchObject({
      server: 'https://other.test',
    });
  });

  it('takes authority, name and proxy, and a client certificate', async () => {
    const text = kubeconfig({
      cluster: {
        'certificate-authority-data': base64('CA'),
        'tls-server-name': 'name.test',
        'proxy-url': 'http://proxy:3128',
      },
      user: { token: undefined, 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') },
    });
    await expect(loadKubeconfig({ text })).resolves.toMatchObject({
      ca: 'CA',
      tlsServerName: 'name.test',
      proxyUrl: 'http://proxy:3128',
      auth: { kind: 'certificate', cert: 'CERT', key: 'KEY' },
    });
  });

  it('reads files relative to the kubeconfig, and leaves token files to be followed', async () => {
    writeFileSync(join(directory, 'ca.crt'), 'CA from file');
    const path = join(directory, 'config');
    const text = kubeconfig({
      cluster: { 'certificate-authority': 'ca.crt' },
      user: { token: undefined, tokenFile: 'token' },
    });
    writeFileSync(path, text);
    await expect(loadKubeconfig({ path })).resolves.toMatchObject({
      ca: 'CA from file',
      auth: { kind: 'tokenFile', path: join(directory, 'token') },
    });
  });

  it('runs an exec plugin of our own kubeconfig', async () => {
    const credential = JSON.stringify({
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: 'from-plugin' },
    });
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'echo', args: [credential] };
    const text = kubeconfig({ user: { token: undefined, exec } });
    await expect(loadKubeconfig({ text })).resolves.toMatchObject({
      auth: { kind: 'token', token: 'from-plugin' },
    });
  });

  it.each<[string, string, string | undefined]>([
    ['current-context', kubeconfig({ root: { 'current-context': undefined } }), undefined],
    ['current-context', kubeconfig(), 'missing'],
    ['clusters', kubeconfig({ root: { clusters: [] } }), undefined],
    ['', 'a: [', undefined],
    [
      'clusters[c].cluster.insecure-skip-tls-verify',
      kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } }),
      undefined,
    ],
    ['clusters[c].cluster.server', kubeconfig({ cluster: { server: 'https://u@h' } }), undefined],
    ['users[u].user.as', kubeconfig({ user: { as: 'admin' } }), undefined],
    ['users[u].user.username', kubeconfig({ user: { username: 'admin', password: 'x' } }), undefined],
    ['certificate-authority', kubeconfig({ cluster: { 'certificate-authority': '/none' } }), undefined],
    [
      'users[u].user.exec',
      kubeconfig({ user: { token: undefined, exec: { command: '/none/at/all', apiVersion: 'x' } } }),
      undefined,
    ],
  ])('names %s when it cannot be used', async (field, text, context) => {
    await expect(loadKubeconfig({ text, context })).rejects.toMatchObject({
      code: 'KUBECONFIG_INVALID',
      field,
    });
  });

  it('names the file that cannot be read', async () => {
    const path = join(directory, 'none');
    await expect(loadKubeconfig({ path })).rejects.toThrow(path);
  });
});
