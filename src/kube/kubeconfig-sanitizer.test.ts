import { beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';
import { KubeconfigError } from './errors.js';
import { sanitizeKubeconfig, type SanitizerOptions } from './kubeconfig-sanitizer.js';
import { makeCertificates, type TestCertificates } from './testing/test-certificates.js';

let certificates: TestCertificates;
beforeAll(() => {
  certificates = makeCertificates(['DNS:kube.test']);
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Parts {
  readonly cluster?: object;
  readonly user?: object;
  readonly context?: object;
  readonly root?: object;
}

function kubeconfig({ cluster, user, context, root }: Parts = {}): string {
  return stringify(
    {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'main',
      contexts: [
        { name: 'other', context: { cluster: 'other', user: 'other' } },
        { name: 'main', context: { cluster: 'c', user: 'u', ...context } },
      ],
      clusters: [
        { name: 'other', cluster: { server: 'https://other.test', 'insecure-skip-tls-verify': true } },
        { name: 'c', cluster: { server: 'https://kube.test:6443/clusters/root:a', ...cluster } },
      ],
      users: [
        { name: 'other', user: { exec: { command: 'rm' } } },
        { name: 'u', user: { token: 'secret', ...user } },
      ],
      ...root,
    },
    { aliasDuplicateObjects: false },
  );
}

function refusal(text: string, options: Partial<SanitizerOptions> = {}): KubeconfigError {
  try {
    sanitizeKubeconfig(text, { allowProxy: false, ...options });
  } catch (error) {
    if (error instanceof KubeconfigError) return error;
    throw error;
  }
  throw new Error('should have been refused');
}

describe('sanitizeKubeconfig', () => {
  it('takes the current context’s server and token, whatever else is in the file', () => {
    expect(sanitizeKubeconfig(kubeconfig(), { allowProxy: false })).toEqual({
      server: 'https://kube.test:6443/clusters/root:a',
      auth: { kind: 'token', token: 'secret' },
    });
  });

  it('takes everything that is supported', () => {
    const text = kubeconfig({
      cluster: {
        'certificate-authority-data': base64(certificates.ca),
        'tls-server-name': 'kube.test',
        'proxy-url': 'http://proxy.test:3128/',
        server: 'https://KUBE.test:443/',
      },
      user: {
        token: null,
        'client-certificate-data': base64(certificates.client.cert),
        'client-key-data': base64(certificates.client.key),
        exec: null,
        'as-groups': [],
      },
      context: { namespace: 'kube-bind-abc' },
    });
    expect(sanitizeKubeconfig(text, { allowProxy: true })).toEqual({
      server: 'https://kube.test',
      ca: certificates.ca,
      tlsServerName: 'kube.test',
      proxyUrl: 'http://proxy.test:3128',
      namespace: 'kube-bind-abc',
      auth: { kind: 'certificate', ...certificates.client },
    });
  });

  it('takes a kubeconfig with a hundred contexts', () => {
    const many = (entry: object): object[] =>
      Array.from({ length: 100 }, (_, i) => ({ name: `x${i}`, ...entry }));
    const root = {
      contexts: [
        ...many({ context: { cluster: 'x1', user: 'x1' } }),
        { name: 'main', context: { cluster: 'c', user: 'u' } },
      ],
      clusters: [
        ...many({ cluster: { server: 'https://h' } }),
        { name: 'c', cluster: { server: 'https://kube.test' } },
      ],
      users: [...many({ user: { token: 'x' } }), { name: 'u', user: { token: 'secret' } }],
    };
    expect(sanitizeKubeconfig(kubeconfig({ root }), { allowProxy: false }).server).toBe('https://kube.test');
  });

  it('takes JSON as well', () => {
    const text = JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'https://h' } }],
      users: [{ name: 'a', user: { token: ' t\n' } }],
    });
    expect(sanitizeKubeconfig(text, { allowProxy: false })).toEqual({
      server: 'https://h',
      auth: { kind: 'token', token: 't' },
    });
  });

  it.each([
    ['exec', { command: 'id' }],
    ['auth-provider', { name: 'gcp' }],
    ['client-certificate', '/etc/passwd'],
    ['client-key', '/etc/passwd'],
    ['tokenFile', '/etc/passwd'],
    ['token-file', '/etc/passwd'],
    ['as', 'admin'],
    ['as-uid', '1'],
    ['as-groups', ['system:masters']],
    ['as-user-extra', { a: ['b'] }],
    ['username', 'admin'],
    ['password', 'x'],
  ])('refuses users[].user.%s', (field, value) => {
    const error = refusal(kubeconfig({ user: { [field]: value } }));
    expect(error.field).toBe(`users[1].user.${field}`);
    expect(error.message).toContain(error.field);
  });

  it.each<[string, unknown, Partial<SanitizerOptions>]>([
    ['certificate-authority', '/etc/passwd', {}],
    ['insecure-skip-tls-verify', true, {}],
    ['insecure-skip-tls-verify', 'true', {}],
    ['proxy-url', 'http://proxy.test', {}],
    ['proxy-url', 'socks5://proxy.test', { allowProxy: true }],
    ['proxy-url', 'http://user:pass@proxy.test', { allowProxy: true }],
    ['proxy-url', 'http://proxy.test/path', { allowProxy: true }],
    ['certificate-authority-data', 'no base64!', {}],
    ['certificate-authority-data', base64('no certificate'), {}],
    [
      'certificate-authority-data',
      base64('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'),
      {},
    ],
    ['tls-server-name', 'a b', {}],
    ['tls-server-name', ['a'], {}],
    ['server', null, {}],
    ['server', 'http://kube.test', {}],
    ['server', 'ftp://kube.test', { allowHttp: true }],
    ['server', 'https://user@kube.test', {}],
    ['server', 'https://user:pass@kube.test', {}],
    ['server', 'https://kube.test?x=y', {}],
    ['server', 'https://kube.test/#f', {}],
    ['server', 'https://kube.test/a b', {}],
    ['server', 'https://kube.test/a/../b', {}],
    ['server', 'https://kube.test\\@evil.test', {}],
    ['server', `https://kube.test/${'x'.repeat(2048)}`, {}],
    ['server', { a: 1 }, {}],
  ])('refuses clusters[].cluster.%s %j', (field, value, options) => {
    expect(refusal(kubeconfig({ cluster: { [field]: value } }), options).field).toBe(
      `clusters[1].cluster.${field}`,
    );
  });

  it.each<[string, object]>([
    ['token', { token: 'a b' }],
    ['token', { token: 'a\nb' }],
    ['token', { token: 'x'.repeat(17_000) }],
    ['token', { token: 5 }],
    ['client-key-data', { token: '', 'client-certificate-data': 'PLACEHOLDER' }],
    ['client-certificate-data', { token: '', 'client-key-data': 'PLACEHOLDER' }],
  ])('refuses a bad %s: %j', (field, user) => {
    const text = kubeconfig({ user }).replace('PLACEHOLDER', base64(certificates.client.cert));
    expect(refusal(text).field).toBe(`users[1].user.${field}`);
  });

  it('refuses a key that is not the certificate’s', () => {
    const user = {
      token: null,
      'client-certificate-data': base64(certificates.client.cert),
      'client-key-data': base64(certificates.server.key),
    };
    expect(refusal(kubeconfig({ user })).message).toMatch(/does not belong/);
  });

  it('refuses a user without any credentials', () => {
    expect(refusal(kubeconfig({ user: { token: null } })).field).toBe('users[1].user');
  });

  it.each<[string, object]>([
    ['current-context', { 'current-context': undefined }],
    ['contexts', { 'current-context': 'missing' }],
    ['contexts', { contexts: 'x' }],
    ['clusters', { clusters: [] }],
    ['users', { users: [null, 5] }],
    ['users[0].user', { users: [{ name: 'u', user: 'x' }] }],
  ])('names %s when the file does not hang together', (field, root) => {
    expect(refusal(kubeconfig({ root })).field).toBe(field);
  });

  it('refuses a namespace that is none', () => {
    expect(refusal(kubeconfig({ context: { namespace: '../x' } })).field).toBe(
      'contexts[1].context.namespace',
    );
  });

  it.each(['', 'x', '[]', '5', 'a: [', 'a: 1\n---\nb: 2', '{"a":', '\u0000'])('refuses %j', (text) => {
    expect(refusal(text)).toBeInstanceOf(KubeconfigError);
  });

  it('does not read the fields of a prototype', () => {
    const text = '{"__proto__": {"current-context": "a"}, "constructor": {}}';
    expect(refusal(text).field).toBe('current-context');
  });

  it.each([
    ['aliases', /Alias/, `a: &a [x]\nb: [*a, *a]\n${kubeconfig()}`],
    [
      'a bomb of aliases',
      /Alias/,
      Array.from({ length: 30 }, (_, i) => `k${i}: &k${i} [${i === 0 ? 'x' : `*k${i - 1},*k${i - 1}`}]`).join(
        '\n',
      ),
    ],
    ['merge keys', /Alias/, `a: &a {x: 1}\nb:\n  <<: *a\n${kubeconfig()}`],
    ['deep lists', /too deeply/, '['.repeat(4000)],
    ['deep mappings', /too deeply/, '{a: '.repeat(2000)],
    ['deep sequences', /too deeply/, '- '.repeat(4000)],
    ['deep keys', /too deeply/, '? '.repeat(4000)],
    ['many brackets', /too many entries/, ']'.repeat(250_000)],
    ['many keys', /too many entries/, 'a:\n'.repeat(80_000)],
    ['many tags', /too many entries/, '- !x y\n'.repeat(30_000)],
    ['many strings', /too many entries/, '""'.repeat(130_000)],
    ['many escapes', /too many entries/, `"${'\\q'.repeat(100_000)}"`],
    ['many documents', /too many entries/, '---\n'.repeat(60_000)],
    ['more than 256 KiB', /256 KiB/, `# ${'x'.repeat(262_144)}\n${kubeconfig()}`],
  ])('refuses %s before it costs time', (_, message, text) => {
    expect(refusal(text).message).toMatch(message);
  });
});
