import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { dirname, resolve } from 'node:path';
import { KubeConfig, type Cluster, type User } from '@kubernetes/client-node';
import { parse as parseYaml } from 'yaml';
import type { ClientAuth, ServerCredentials } from './credentials.js';
import { KubeconfigError } from './errors.js';
import { parseServerUrl } from './server-url.js';

/** Which kubeconfig to load; with neither path nor text, the service account of the pod that we run in. */
export interface KubeconfigSource {
  readonly path?: string | undefined;
  readonly text?: string | undefined;
  /** A context other than the current one. */
  readonly context?: string | undefined;
}

/**
 * Loads a kubeconfig of our own: files in it are read and exec plugins are run (once: a plugin's token is not
 * renewed). A token file is followed while the program runs. Never for kubeconfigs from outside: those go
 * through the sanitizer.
 *
 * @throws KubeconfigError that names the field
 */
export async function loadKubeconfig(source: KubeconfigSource): Promise<ServerCredentials> {
  const { config, root, raw } = await load(source);
  if (source.context !== undefined) config.setCurrentContext(source.context);
  const name = config.getCurrentContext() as string | undefined;
  const context = name === undefined || name === '' ? null : config.getContextObject(name);
  if (context === null)
    throw new KubeconfigError(
      name === undefined || name === ''
        ? 'current-context is not set'
        : `contexts has no entry named ${name}`,
      'current-context',
    );
  const cluster = config.getCluster(context.cluster);
  if (cluster === null)
    throw new KubeconfigError(`clusters has no entry named ${context.cluster}`, 'clusters');
  const user = config.getUser(context.user);
  const ca = await pem(cluster.caData, cluster.caFile, root, 'certificate-authority');
  const { origin, path } = parseServerUrl(cluster.server, `clusters[${cluster.name}].cluster.server`);
  refuse(cluster, user);
  return {
    server: origin + path,
    auth: user === null ? { kind: 'none' } : await authentication(config, user, root, tokenFileOf(raw, user)),
    ...(ca === undefined ? {} : { ca }),
    ...(cluster.tlsServerName ? { tlsServerName: cluster.tlsServerName } : {}),
    ...(cluster.proxyUrl ? { proxyUrl: cluster.proxyUrl } : {}),
    ...(context.namespace ? { namespace: context.namespace.trim() } : {}),
  };
}

async function load(source: KubeconfigSource): Promise<{ config: KubeConfig; root: string; raw: unknown }> {
  const config = new KubeConfig();
  const root = source.path === undefined ? '.' : dirname(resolve(source.path));
  try {
    const text = source.path === undefined ? source.text : await readFile(source.path, 'utf8');
    if (text === undefined) {
      config.loadFromCluster();
      return { config, root, raw: undefined };
    }
    config.loadFromString(text);
    return { config, root, raw: parseYaml(text) };
  } catch (error) {
    throw new KubeconfigError(
      `cannot load the kubeconfig${source.path === undefined ? '' : ` ${source.path}`}: ${messageOf(error)}`,
      '',
    );
  }
}

/** What client-node understands but this program cannot, or should not, do. */
function refuse(cluster: Cluster, user: User | null): void {
  if (cluster.skipTLSVerify)
    throw new KubeconfigError(
      `clusters[${cluster.name}].cluster.insecure-skip-tls-verify: the server is always verified; use certificate-authority-data`,
      `clusters[${cluster.name}].cluster.insecure-skip-tls-verify`,
    );
  if (user?.impersonateUser)
    throw new KubeconfigError(
      `users[${user.name}].user.as: impersonation is not supported; use an account with the rights it needs`,
      `users[${user.name}].user.as`,
    );
  if (user?.username)
    throw new KubeconfigError(
      `users[${user.name}].user.username: is not supported; use a token or a client certificate`,
      `users[${user.name}].user.username`,
    );
}

async function authentication(
  config: KubeConfig,
  user: User,
  root: string,
  tokenFile: string | undefined,
): Promise<ClientAuth> {
  if (tokenFile !== undefined) return { kind: 'tokenFile', path: resolve(root, tokenFile) };
  if (user.token) return { kind: 'token', token: user.token.trim() };
  const cert = await pem(user.certData, user.certFile, root, 'client-certificate');
  const key = await pem(user.keyData, user.keyFile, root, 'client-key');
  if (cert !== undefined && key !== undefined) return { kind: 'certificate', cert, key };
  if (user.exec === undefined && user.authProvider === undefined) return { kind: 'none' };
  return pluginAuthentication(config, user);
}

/** Lets client-node run the plugin, and takes from it what it would send. */
async function pluginAuthentication(config: KubeConfig, user: User): Promise<ClientAuth> {
  const field = `users[${user.name}].user.${user.exec === undefined ? 'auth-provider' : 'exec'}`;
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch (error) {
    throw new KubeconfigError(`${field}: ${messageOf(error)}`, field);
  }
  const { headers, cert, key } = options;
  const header: unknown = Object.entries(headers ?? {}).find(
    ([name]) => name.toLowerCase() === 'authorization',
  )?.[1];
  const token = typeof header === 'string' ? /^Bearer (\S+)$/.exec(header)?.[1] : undefined;
  if (token !== undefined) return { kind: 'token', token };
  if (cert !== undefined && key !== undefined)
    return { kind: 'certificate', cert: asText(cert), key: asText(key) };
  throw new KubeconfigError(`${field}: the plugin gave neither a token nor a client certificate`, field);
}

/** `tokenFile` is what kubectl calls it; client-node does not know the field, and cannot follow the file. */
function tokenFileOf(raw: unknown, user: User): string | undefined {
  const provider: unknown = user.authProvider;
  const inCluster = lookUp(lookUp(provider, 'config'), 'tokenFile');
  if (lookUp(provider, 'name') === 'tokenFile' && typeof inCluster === 'string') return inCluster;
  const users = lookUp(raw, 'users');
  const entry: unknown = Array.isArray(users)
    ? users.find((item) => lookUp(item, 'name') === user.name)
    : undefined;
  const path = lookUp(lookUp(entry, 'user'), 'tokenFile');
  return typeof path === 'string' && path !== '' ? path : undefined;
}

async function pem(
  data: string | undefined,
  file: string | undefined,
  root: string,
  field: string,
): Promise<string | undefined> {
  if (data) return Buffer.from(data, 'base64').toString();
  if (!file) return undefined;
  try {
    return await readFile(resolve(root, file), 'utf8');
  } catch (error) {
    throw new KubeconfigError(`${field}: cannot read ${file}: ${messageOf(error)}`, field);
  }
}

function lookUp(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Object.entries(value).find(([name]) => name === key)?.[1];
}

function asText(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString() : String(value);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
