import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { ServerCredentials } from '../../../src/kube/credentials.js';
import { KubeconfigError } from '../../../src/kube/errors.js';
import { sanitizeKubeconfig } from '../../../src/kube/kubeconfig-sanitizer.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';

/** Credentials of a provider, with the namespace that its backend gave. */
export type ProviderCredentials = ServerCredentials & { readonly namespace: string };

/** What the controller takes too. */
const MAX_BYTES = 64 * 1024;

/**
 * The text of `--kubeconfig-file`; `-` is standard input.
 *
 * @throws PluginError USAGE
 */
export async function readKubeconfigInput(
  context: Pick<CommandContext, 'environment' | 'signal'>,
  file: string,
): Promise<string> {
  const { stdin, workingDirectory } = context.environment;
  if (file !== '-') {
    try {
      return bounded(await readFile(resolve(workingDirectory, file)), file);
    } catch (cause) {
      if (cause instanceof PluginError) throw cause;
      throw refused(
        `--kubeconfig-file ${file} cannot be read`,
        'name a readable file, or - for standard input',
        cause,
      );
    }
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    context.signal.throwIfAborted();
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.byteLength;
    if (size > MAX_BYTES) break;
    chunks.push(bytes);
  }
  return bounded(size > MAX_BYTES ? Buffer.alloc(size) : Buffer.concat(chunks), '-');
}

function bounded(bytes: Buffer, file: string): string {
  if (bytes.byteLength > MAX_BYTES) {
    throw refused(
      `--kubeconfig-file ${file} is larger than ${MAX_BYTES} bytes`,
      'give the one that the provider made, and nothing else',
    );
  }
  const text = bytes.toString('utf8');
  if (text.trim() === '')
    throw refused(`--kubeconfig-file ${file} is empty`, 'give a kubeconfig of the provider');
  return text;
}

/**
 * Reduces a provider's kubeconfig to what the controller takes: it runs nothing and reads no files.
 *
 * @param from for messages: `--kubeconfig-file x`, `the kubeconfig that the provider gave`
 * @throws PluginError PROVIDER naming the field
 */
export function checkProviderKubeconfig(text: string, from: string): ProviderCredentials {
  try {
    const { namespace, ...credentials } = sanitizeKubeconfig(text, { allowProxy: true });
    if (namespace !== undefined) return { ...credentials, namespace };
  } catch (cause) {
    if (!(cause instanceof KubeconfigError)) throw cause;
    throw new PluginError({
      code: 'PROVIDER',
      message: `${from} cannot be used: ${printable(cause.message, 300)}`,
      remedy:
        'ask the provider for one with data in place; `kubectl config view --raw --minify --flatten` puts files into it',
      cause,
    });
  }
  throw new PluginError({
    code: 'PROVIDER',
    message: `${from} names no namespace in its context`,
    remedy:
      'set it to the namespace that the provider gave you: `kubectl config set-context --current --namespace=NAME`',
  });
}

/** A kubeconfig with exactly these credentials: what else stood in the original goes nowhere. */
export function kubeconfigOf(credentials: ProviderCredentials): string {
  const { auth, ca, namespace, proxyUrl, server, tlsServerName } = credentials;
  const encode = (pem: string): string => Buffer.from(pem, 'latin1').toString('base64');
  const user =
    auth.kind === 'certificate'
      ? { 'client-certificate-data': encode(auth.cert), 'client-key-data': encode(auth.key) }
      : { token: auth.kind === 'token' ? auth.token : '' };
  const cluster = {
    server,
    ...(ca === undefined ? {} : { 'certificate-authority-data': encode(ca) }),
    ...(tlsServerName === undefined ? {} : { 'tls-server-name': tlsServerName }),
    ...(proxyUrl === undefined ? {} : { 'proxy-url': proxyUrl }),
  };
  const name = 'provider';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    'current-context': name,
  };
  // JSON is YAML.
  return `${JSON.stringify(config, undefined, 2)}\n`;
}

function refused(message: string, remedy: string, cause?: unknown): PluginError {
  return new PluginError({ code: 'USAGE', message, remedy, ...(cause === undefined ? {} : { cause }) });
}
