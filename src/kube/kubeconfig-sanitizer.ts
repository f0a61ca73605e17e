import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { ClientAuth, ServerCredentials } from './credentials.js';
import { KubeconfigError } from './errors.js';
import { parseKubeconfigYaml, type KubeconfigNode } from './kubeconfig-yaml.js';
import { parseServerUrl } from './server-url.js';

/** What a kubeconfig from outside may ask for. */
export interface SanitizerOptions {
  /** Honour `proxy-url`. */
  readonly allowProxy: boolean;
  /** Take `http://` servers too. The dialler still has to allow the address. Default false. */
  readonly allowHttp?: boolean | undefined;
}

const MAX_TOKEN_CHARS = 16 * 1024;

/** Fields that would run programs, read our files, act as somebody else, or give up verification. */
const REFUSED_USER_FIELDS: readonly (readonly [string, string])[] = [
  ['exec', 'programs are never run; use a token or a client certificate'],
  ['auth-provider', 'is not supported; use a token or a client certificate'],
  ['client-certificate', 'files are never read; use client-certificate-data'],
  ['client-key', 'files are never read; use client-key-data'],
  ['tokenFile', 'files are never read; use token'],
  ['token-file', 'files are never read; use token'],
  ['as', 'impersonation is not supported; use an account with the rights it needs'],
  ['as-groups', 'impersonation is not supported; use an account with the rights it needs'],
  ['as-uid', 'impersonation is not supported; use an account with the rights it needs'],
  ['as-user-extra', 'impersonation is not supported; use an account with the rights it needs'],
  ['username', 'is not supported; use a token or a client certificate'],
  ['password', 'is not supported; use a token or a client certificate'],
];
const REFUSED_CLUSTER_FIELDS: readonly (readonly [string, string])[] = [
  ['certificate-authority', 'files are never read; use certificate-authority-data'],
  ['insecure-skip-tls-verify', 'the server is always verified; use certificate-authority-data'],
];

/**
 * Reduces a kubeconfig from outside (a backend's answer, a tenant's Secret) to plain credentials. Reads the
 * cluster and the user of the current context and nothing else; runs nothing, opens nothing.
 *
 * @throws KubeconfigError that names the field and says what to use instead
 */
export function sanitizeKubeconfig(text: string, options: SanitizerOptions): ServerCredentials {
  const root = parseKubeconfigYaml(text);
  const context = root.entry('contexts', required(root, 'current-context')).child('context');
  const cluster = root.entry('clusters', required(context, 'cluster')).child('cluster');
  const user = root.entry('users', required(context, 'user')).child('user');
  refuse(cluster, REFUSED_CLUSTER_FIELDS);
  refuse(user, REFUSED_USER_FIELDS);
  const ca = authorities(cluster);
  const tlsServerName = matching(
    cluster,
    'tls-server-name',
    /^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$/,
  );
  const proxyUrl = proxy(cluster, options);
  const namespace = matching(context, 'namespace', /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/);
  return {
    server: server(cluster, options),
    auth: authentication(user),
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(namespace === undefined ? {} : { namespace }),
  };
}

function refuse(node: KubeconfigNode, fields: typeof REFUSED_USER_FIELDS): void {
  for (const [name, why] of fields) if (node.has(name)) throw fieldError(node, name, why);
}

function server(cluster: KubeconfigNode, options: SanitizerOptions): string {
  const { origin, path } = parseServerUrl(required(cluster, 'server'), cluster.field('server'));
  if (!origin.startsWith('https://') && options.allowHttp !== true)
    throw fieldError(cluster, 'server', 'must start with https://');
  return origin + path;
}

function proxy(cluster: KubeconfigNode, options: SanitizerOptions): string | undefined {
  const text = cluster.text('proxy-url');
  if (text === undefined) return undefined;
  if (!options.allowProxy)
    throw fieldError(cluster, 'proxy-url', 'is not allowed here; an admin can allow it with --allow-proxy');
  const { origin, path } = parseServerUrl(text, cluster.field('proxy-url'));
  if (path !== '') throw fieldError(cluster, 'proxy-url', 'must be http(s)://host:port without a path');
  return origin;
}

function authentication(user: KubeconfigNode): ClientAuth {
  const token = user.text('token')?.trim();
  if (token !== undefined && token !== '') {
    if (token.length > MAX_TOKEN_CHARS || !/^[!-~]+$/.test(token))
      throw fieldError(user, 'token', 'must be one line of at most 16 KiB of printable ASCII');
    return { kind: 'token', token };
  }
  const cert = pem(user, 'client-certificate-data');
  const key = pem(user, 'client-key-data');
  if (cert === undefined && key === undefined)
    throw new KubeconfigError(
      `${user.path} has neither token nor client-certificate-data with client-key-data`,
      user.path,
    );
  if (cert === undefined) throw fieldError(user, 'client-certificate-data', 'is missing');
  if (key === undefined) throw fieldError(user, 'client-key-data', 'is missing');
  const [own] = certificates(user, 'client-certificate-data', cert);
  const fits = attempt(user, 'client-key-data', 'is not a PEM private key without passphrase', () =>
    own?.checkPrivateKey(createPrivateKey(key)),
  );
  if (fits !== true) throw fieldError(user, 'client-key-data', 'does not belong to client-certificate-data');
  return { kind: 'certificate', cert, key };
}

function authorities(cluster: KubeconfigNode): string | undefined {
  const ca = pem(cluster, 'certificate-authority-data');
  if (ca !== undefined) certificates(cluster, 'certificate-authority-data', ca);
  return ca;
}

/** Checked here, where the field can be named, and not by the first connection. */
function certificates(node: KubeconfigNode, name: string, text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw fieldError(node, name, 'holds no PEM certificate');
  return attempt(node, name, 'holds a malformed certificate', () =>
    blocks.map((block) => new X509Certificate(block)),
  );
}

function pem(node: KubeconfigNode, name: string): string | undefined {
  const text = node.text(name)?.replace(/\s/g, '');
  if (text === undefined || text === '') return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw fieldError(node, name, 'must be base64');
  return Buffer.from(text, 'base64').toString('latin1');
}

function matching(node: KubeconfigNode, name: string, pattern: RegExp): string | undefined {
  const text = node.text(name);
  if (text === undefined || pattern.test(text)) return text;
  throw fieldError(node, name, 'is not a valid name');
}

function required(node: KubeconfigNode, name: string): string {
  const text = node.text(name);
  if (text === undefined) throw fieldError(node, name, 'is missing');
  return text;
}

function attempt<T>(node: KubeconfigNode, name: string, why: string, action: () => T): T {
  try {
    return action();
  } catch {
    throw fieldError(node, name, why);
  }
}

function fieldError(node: KubeconfigNode, name: string, why: string): KubeconfigError {
  return new KubeconfigError(`${node.field(name)}: ${why}`, node.field(name));
}
