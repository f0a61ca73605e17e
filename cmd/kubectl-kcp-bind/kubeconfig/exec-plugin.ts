import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { isJsonObject } from '../../../src/kube/json-value.js';
import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';
import type { ClusterEntry, ExecEntry } from './config.js';

/** What a credential plugin gave; one of token and certificate is there. */
export interface ExecCredential {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
}

export interface ExecSurroundings {
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** A person can answer the plugin's questions. */
  readonly interactive: boolean;
  /** Receives the plugin's standard error as it comes, so that its prompts are seen. */
  readonly showError: (text: string) => void;
  readonly signal: AbortSignal;
}

const MAX_OUTPUT = 1024 * 1024;
const MAX_KEPT_ERROR = 4096;

/**
 * Runs a kubeconfig's credential plugin (client.authentication.k8s.io) without blocking: standard input is
 * the terminal when somebody sits there, standard error is passed on.
 *
 * @throws PluginError CREDENTIALS with what the plugin said last
 */
export async function runExecPlugin(
  entry: ExecEntry,
  cluster: ClusterEntry,
  surroundings: ExecSurroundings,
): Promise<ExecCredential> {
  const interactive = surroundings.interactive && entry.interactiveMode !== 'Never';
  if (entry.interactiveMode === 'Always' && !interactive) {
    throw failed(entry, 'it needs a terminal, and there is none', 'run the command in a terminal');
  }
  const child = spawn(entry.command, [...entry.args], {
    env: {
      ...surroundings.variables,
      ...Object.fromEntries(entry.env.map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(entry, cluster, interactive)),
    },
    stdio: [interactive ? 'inherit' : 'ignore', 'pipe', 'pipe'],
    signal: surroundings.signal,
  });
  let kept = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (chunk: string) => {
    kept = (kept + chunk).slice(-MAX_KEPT_ERROR);
    surroundings.showError(chunk);
  });
  const ended = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? -1));
  });
  const output = collect(child.stdout, () => child.kill());
  let code: number;
  try {
    code = await ended;
  } catch (error) {
    surroundings.signal.throwIfAborted();
    throw failed(entry, 'it cannot be started', entry.installHint, error);
  }
  if (code !== 0) {
    const said = lastLine(kept);
    throw failed(entry, `it ended with code ${code}${said === '' ? '' : `: ${said}`}`, entry.installHint);
  }
  return readCredential(entry, await output);
}

/** Reads the plugin's answer; a missing expirationTimestamp is fine, the credential is used once. */
function readCredential(entry: ExecEntry, text: string): ExecCredential {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch (error) {
    throw failed(entry, 'it did not print an ExecCredential', entry.installHint, error);
  }
  const status = isJsonObject(answer) && answer['kind'] === 'ExecCredential' ? answer['status'] : undefined;
  if (!isJsonObject(status)) throw failed(entry, 'it did not print an ExecCredential with a status');
  const { token, clientCertificateData, clientKeyData } = status;
  if (typeof clientCertificateData === 'string' && typeof clientKeyData === 'string') {
    return { clientCertificateData, clientKeyData };
  }
  if (typeof token === 'string' && token !== '') return { token };
  throw failed(entry, 'its ExecCredential holds neither a token nor a certificate with key');
}

function execInfo(entry: ExecEntry, cluster: ClusterEntry, interactive: boolean): unknown {
  return {
    apiVersion: entry.apiVersion,
    kind: 'ExecCredential',
    spec: {
      interactive,
      ...(entry.provideClusterInfo
        ? {
            cluster: {
              server: cluster.server,
              'tls-server-name': cluster.tlsServerName,
              'insecure-skip-tls-verify': cluster.insecureSkipTlsVerify,
              'certificate-authority-data': cluster.certificateAuthorityData,
              'proxy-url': cluster.proxyUrl,
            },
          }
        : {}),
    },
  };
}

async function collect(stream: Readable, stop: () => void): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_OUTPUT) {
      stop();
      break;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function lastLine(text: string): string {
  return printable(text.trim().split('\n').at(-1) ?? '', 500);
}

function failed(entry: ExecEntry, what: string, hint?: string, cause?: unknown): PluginError {
  return new PluginError({
    code: 'CREDENTIALS',
    message: `the kubeconfig's credential plugin ${entry.command} failed: ${what}`,
    remedy:
      hint === undefined
        ? 'run `kubectl get --raw /version` to see whether kubectl can use it'
        : printable(hint),
    cause,
  });
}
