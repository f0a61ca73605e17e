import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PluginError } from '../errors.js';
import { EMPTY_KUBECONFIG, mergeKubeconfigs, type KubeconfigData } from './config.js';
import { kubeconfigFiles } from './files.js';
import { loadKubeconfig } from './load.js';
import { parseKubeconfig } from './parse.js';
import { proxyFor } from './proxy.js';
import { selectConfig } from './select.js';
import { resolveWorkspace } from './workspace.js';

function codeOf(action: () => unknown): string | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    return error instanceof PluginError ? error.code : String(error);
  }
}

const config = (name: string, server: string): string => `
current-context: ${name}
contexts: [{name: ${name}, context: {cluster: ${name}, user: ${name}}}]
clusters: [{name: ${name}, cluster: {server: "${server}"}}, {name: shared, cluster: {server: "https://shared-${name}"}}]
users: [{name: ${name}, user: {token: token-${name}}}]
`;

describe('which files are read', () => {
  const home = '/home/me';
  const workingDirectory = '/work';
  it.each([
    ['--kubeconfig wins', 'c', `a${delimiter}b`, { paths: ['/work/c'], required: true }],
    [
      'KUBECONFIG is a list',
      undefined,
      `a${delimiter}/b${delimiter}${delimiter}a`,
      { paths: ['/work/a', '/b'], required: false },
    ],
    [
      'the home’s file is the default',
      undefined,
      undefined,
      { paths: ['/home/me/.kube/config'], required: false },
    ],
    [
      'an empty KUBECONFIG counts as none',
      undefined,
      '',
      { paths: ['/home/me/.kube/config'], required: false },
    ],
  ])('%s', (_name, flag, variable, expected) => {
    expect(kubeconfigFiles({ flag, variable, home, workingDirectory })).toEqual(expected);
  });
});

describe('several kubeconfigs', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kpb-'));
    await writeFile(join(folder, 'a'), config('a', 'https://a/clusters/root:a'));
    await writeFile(join(folder, 'b'), config('b', 'https://b/clusters/root:b'));
    await writeFile(join(folder, 'broken'), '{');
  });
  afterAll(() => rm(folder, { recursive: true }));

  const load = (variables: Record<string, string>, flag?: string): Promise<KubeconfigData> =>
    loadKubeconfig({ variables, home: folder, workingDirectory: folder }, flag);

  it('merge: the first file’s entries and current-context count, missing files are passed over', async () => {
    const data = await load({ KUBECONFIG: ['missing', 'a', 'b'].join(delimiter) });
    expect(data.currentContext).toBe('a');
    expect(data.clusters.get('shared')?.server).toBe('https://shared-a');
    expect([...data.contexts.keys()].sort()).toEqual(['a', 'b']);
    expect(selectConfig(data, { context: 'b' })).toMatchObject({
      cluster: { server: 'https://b/clusters/root:b' },
      user: { token: 'token-b' },
    });
  });

  it('are passed over for --kubeconfig, which must exist', async () => {
    expect((await load({ KUBECONFIG: 'a' }, 'b')).currentContext).toBe('b');
    await expect(load({ KUBECONFIG: 'a' }, 'missing')).rejects.toMatchObject({ code: 'KUBECONFIG' });
    await expect(load({ KUBECONFIG: 'broken' })).rejects.toMatchObject({ code: 'KUBECONFIG' });
  });

  it('without any file there is no context', async () => {
    const data = await load({});
    expect(data).toEqual(EMPTY_KUBECONFIG);
    expect(codeOf(() => selectConfig(data, {}))).toBe('KUBECONFIG');
    expect(selectConfig(data, { server: 'https://x/clusters/root', token: 't' })).toMatchObject({
      cluster: { server: 'https://x/clusters/root' },
      user: { token: 't' },
    });
  });
});

describe('a kubeconfig', () => {
  it('takes relative paths from its own folder', () => {
    const data = parseKubeconfig(
      `
clusters: [{name: c, cluster: {server: https://x, certificate-authority: ca.pem}}]
users:
- name: u
  user: {client-certificate: ../cert.pem, exec: {command: ./bin/login, args: [a], interactiveMode: Never}}
- name: v
  user: {exec: {command: kubelogin}}
`,
      '/etc/kube/config',
    );
    expect(data.clusters.get('c')?.certificateAuthority).toBe('/etc/kube/ca.pem');
    expect(data.users.get('u')?.clientCertificate).toBe('/etc/cert.pem');
    expect(data.users.get('u')?.exec).toMatchObject({
      command: '/etc/kube/bin/login',
      args: ['a'],
      interactiveMode: 'Never',
    });
    expect(data.users.get('v')?.exec?.command).toBe('kubelogin');
  });

  it.each(['[]', 'text', ': {', 'users: [{name: u, user: {exec: {}}}]'])('%s is refused', (text) => {
    expect(codeOf(() => parseKubeconfig(text, 'file'))).toBe('KUBECONFIG');
  });

  it.each(['', '{}', 'clusters: 3', 'clusters: [3, {name: 4}, {name: x}]', 'users: [{name: x, user: []}]'])(
    '%j holds nothing, and that is fine',
    (text) => expect(codeOf(() => parseKubeconfig(text, 'file'))).toBeUndefined(),
  );
});

describe('kubectl’s overrides', () => {
  const data = mergeKubeconfigs([
    parseKubeconfig(config('a', 'https://a'), 'a'),
    parseKubeconfig(config('b', 'https://b'), 'b'),
  ]);
  it.each([
    ['--context', { context: 'b' }, 'https://b', 'token-b'],
    ['--cluster', { cluster: 'shared' }, 'https://shared-a', 'token-a'],
    ['--user', { user: 'b' }, 'https://a', 'token-b'],
    ['--server and --token', { server: 'https://z', token: 't' }, 'https://z', 't'],
  ])('%s', (_name, overrides, server, token) => {
    const selected = selectConfig(data, overrides);
    expect(selected.cluster.server).toBe(server);
    expect(selected.user.token).toBe(token);
  });

  it.each([[{ context: 'z' }], [{ cluster: 'z' }], [{ user: 'z' }]])('%j names nothing', (overrides) => {
    expect(codeOf(() => selectConfig(data, overrides))).toBe('KUBECONFIG');
  });

  it('lay impersonation over the user, and let --token replace his other credentials', () => {
    const user = { clientCertificateData: 'c', clientKeyData: 'k', as: 'x', asGroups: ['g'] };
    const own: KubeconfigData = { ...data, users: new Map([['a', user]]) };
    expect(selectConfig(own, { as: 'y' }).user).toEqual({ ...user, as: 'y' });
    expect(selectConfig(own, { token: 't' }).user).toEqual({ token: 't', as: 'x', asGroups: ['g'] });
  });

  it('let --certificate-authority replace the kubeconfig’s data', () => {
    const own: KubeconfigData = {
      ...data,
      clusters: new Map([['a', { server: 'https://a', certificateAuthorityData: 'old' }]]),
    };
    expect(selectConfig(own, { certificateAuthority: '/ca' }).cluster).toEqual({
      server: 'https://a',
      certificateAuthority: '/ca',
    });
  });
});

describe('the workspace', () => {
  it.each([
    [
      'https://kcp:6443/clusters/root:org:w1',
      undefined,
      'https://kcp:6443/clusters/root:org:w1',
      'root:org:w1',
    ],
    [
      'https://kcp/clusters/2hrn4pzt0bbsbgu7/',
      undefined,
      'https://kcp/clusters/2hrn4pzt0bbsbgu7',
      '2hrn4pzt0bbsbgu7',
    ],
    ['https://kcp/clusters/user:abc:home', undefined, 'https://kcp/clusters/user:abc:home', 'user:abc:home'],
    ['https://proxy/kcp/clusters/root', undefined, 'https://proxy/kcp/clusters/root', 'root'],
    ['https://kcp/clusters/root:a', 'root:b', 'https://kcp/clusters/root:b', 'root:b'],
    ['https://kcp', 'root:b', 'https://kcp/clusters/root:b', 'root:b'],
    ['https://kcp/', '2hrn4pzt0bbsbgu7', 'https://kcp/clusters/2hrn4pzt0bbsbgu7', '2hrn4pzt0bbsbgu7'],
    ['kcp:6443/clusters/root:a', undefined, 'https://kcp:6443/clusters/root:a', 'root:a'],
  ])('of %s with --workspace %s', (server, override, expected, workspace) => {
    expect(resolveWorkspace(server, override)).toMatchObject({ server: expected, workspace });
  });

  it.each([
    ['https://kubernetes:6443', undefined, 'WORKSPACE'],
    ['https://kcp/clusters/', undefined, 'WORKSPACE'],
    ['https://kcp/clusters/*', undefined, 'WORKSPACE'],
    ['https://kcp/services/apiexport/root/x/clusters/abc', undefined, 'WORKSPACE'],
    ['https://kcp/clusters/root:a/apis', undefined, 'WORKSPACE'],
    ['https://kcp/clusters/root', 'Root:A', 'USAGE'],
    ['https://kcp/clusters/root', '../admin', 'USAGE'],
    ['https://me:secret@kcp/clusters/root', undefined, 'KUBECONFIG'],
    ['ftp://kcp/clusters/root', undefined, 'KUBECONFIG'],
  ])('is not found in %s with --workspace %s', (server, override, code) => {
    expect(codeOf(() => resolveWorkspace(server, override))).toBe(code);
  });
});

describe('the proxy of the environment', () => {
  it.each([
    ['https://kcp.example.com', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://kcp.example.com', { https_proxy: 'p:1' }, 'http://p:1'],
    ['http://kcp.example.com', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://kcp.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'x, .example.com' }, undefined],
    ['https://kcp.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'example.com' }, undefined],
    ['https://kcp.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'ample.com' }, 'http://p:1'],
    [
      'https://kcp.example.com:6443',
      { HTTPS_PROXY: 'http://p:1', NO_PROXY: 'kcp.example.com:443' },
      'http://p:1',
    ],
    ['https://kcp.example.com', { HTTPS_PROXY: 'http://p:1', NO_PROXY: '*' }, undefined],
    ['https://127.0.0.1:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['https://[::1]:6443', { HTTPS_PROXY: 'http://p:1' }, undefined],
  ])('for %s with %j is %s', (server, variables, expected) => {
    expect(proxyFor(new URL(server), variables)).toBe(expected);
  });
});
