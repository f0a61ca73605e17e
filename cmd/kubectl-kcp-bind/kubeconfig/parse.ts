import { dirname, isAbsolute, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { isJsonObject } from '../../../src/kube/json-value.js';
import { PluginError } from '../errors.js';
import type { ClusterEntry, ContextEntry, ExecEntry, KubeconfigData, UserEntry } from './config.js';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads one kubeconfig. Fields that the plugin does not use are ignored; relative paths are taken from the
 * file's folder, as kubectl does.
 *
 * @throws PluginError KUBECONFIG, naming the file
 */
export function parseKubeconfig(text: string, file: string): KubeconfigData {
  let root: unknown;
  try {
    root = parseYaml(text, { maxAliasCount: 100 });
  } catch (error) {
    throw invalid(file, 'it is not YAML', error);
  }
  root ??= {};
  if (!isJsonObject(root)) throw invalid(file, 'it is not a map');
  const reader = new FieldReader(file);
  const currentContext = root['current-context'];
  return {
    clusters: entries(root, 'clusters', 'cluster', (fields) => reader.cluster(fields)),
    users: entries(root, 'users', 'user', (fields) => reader.user(fields)),
    contexts: entries(root, 'contexts', 'context', (fields) => reader.context(fields)),
    currentContext: typeof currentContext === 'string' && currentContext !== '' ? currentContext : undefined,
  };
}

function entries<T>(root: Fields, list: string, key: string, read: (fields: Fields) => T): Map<string, T> {
  const result = new Map<string, T>();
  const items = root[list];
  if (!Array.isArray(items)) return result;
  for (const item of items as unknown[]) {
    if (!isJsonObject(item) || typeof item['name'] !== 'string' || result.has(item['name'])) continue;
    const value = item[key];
    result.set(item['name'], read(isJsonObject(value) ? value : {}));
  }
  return result;
}

/** Takes typed values out of one file's maps. */
class FieldReader {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  cluster(fields: Fields): ClusterEntry {
    return {
      ...text(fields, 'server', 'server'),
      ...this.#path(fields, 'certificate-authority', 'certificateAuthority'),
      ...text(fields, 'certificate-authority-data', 'certificateAuthorityData'),
      ...(fields['insecure-skip-tls-verify'] === true ? { insecureSkipTlsVerify: true } : {}),
      ...text(fields, 'tls-server-name', 'tlsServerName'),
      ...text(fields, 'proxy-url', 'proxyUrl'),
    };
  }

  user(fields: Fields): UserEntry {
    const provider = fields['auth-provider'];
    return {
      ...text(fields, 'token', 'token'),
      ...this.#path(fields, 'tokenFile', 'tokenFile'),
      ...this.#path(fields, 'client-certificate', 'clientCertificate'),
      ...text(fields, 'client-certificate-data', 'clientCertificateData'),
      ...this.#path(fields, 'client-key', 'clientKey'),
      ...text(fields, 'client-key-data', 'clientKeyData'),
      ...text(fields, 'username', 'username'),
      ...text(fields, 'password', 'password'),
      ...text(fields, 'as', 'as'),
      ...text(fields, 'as-uid', 'asUid'),
      ...(Array.isArray(fields['as-groups']) ? { asGroups: strings(fields['as-groups']) } : {}),
      ...(isJsonObject(fields['exec']) ? { exec: this.#exec(fields['exec']) } : {}),
      ...(isJsonObject(provider) && typeof provider['name'] === 'string'
        ? {
            authProvider: {
              name: provider['name'],
              config: isJsonObject(provider['config']) ? provider['config'] : {},
            },
          }
        : {}),
    };
  }

  context(fields: Fields): ContextEntry {
    return { ...text(fields, 'cluster', 'cluster'), ...text(fields, 'user', 'user') };
  }

  #exec(fields: Fields): ExecEntry {
    const command = fields['command'];
    if (typeof command !== 'string' || command === '') {
      throw invalid(this.#file, 'users[].user.exec.command is missing');
    }
    const mode = fields['interactiveMode'];
    const env = Array.isArray(fields['env']) ? (fields['env'] as unknown[]) : [];
    return {
      apiVersion:
        typeof fields['apiVersion'] === 'string' ? fields['apiVersion'] : 'client.authentication.k8s.io/v1',
      // A path with a slash is relative to the file, a bare name is looked up on the PATH.
      command: /[\\/]/.test(command) ? this.#absolute(command) : command,
      args: strings(fields['args']),
      env: env.flatMap((entry) =>
        isJsonObject(entry) && typeof entry['name'] === 'string' && typeof entry['value'] === 'string'
          ? [{ name: entry['name'], value: entry['value'] }]
          : [],
      ),
      interactiveMode: mode === 'Never' || mode === 'Always' ? mode : 'IfAvailable',
      provideClusterInfo: fields['provideClusterInfo'] === true,
      ...text(fields, 'installHint', 'installHint'),
    };
  }

  #path<K extends string>(fields: Fields, key: string, name: K): Partial<Record<K, string>> {
    const found = text(fields, key, name);
    const value = found[name];
    // `as`: a computed key of a generic type widens.
    return value === undefined ? found : ({ [name]: this.#absolute(value) } as Partial<Record<K, string>>);
  }

  #absolute(path: string): string {
    return isAbsolute(path) ? path : join(dirname(this.#file), path);
  }
}

function text<K extends string>(fields: Fields, key: string, name: K): Partial<Record<K, string>> {
  const value = fields[key];
  if (typeof value !== 'string' || value === '') return {};
  return { [name]: value } as Partial<Record<K, string>>;
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

function invalid(file: string, what: string, cause?: unknown): PluginError {
  return new PluginError({
    code: 'KUBECONFIG',
    message: `the kubeconfig ${file} cannot be used: ${what}`,
    remedy: 'correct the file, or name another with --kubeconfig',
    cause,
  });
}
