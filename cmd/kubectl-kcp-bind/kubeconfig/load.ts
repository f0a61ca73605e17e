import { readFile } from 'node:fs/promises';
import type { Environment } from '../environment.js';
import { PluginError } from '../errors.js';
import { mergeKubeconfigs, type KubeconfigData } from './config.js';
import { kubeconfigFiles } from './files.js';
import { parseKubeconfig } from './parse.js';

/** Larger than any sensible kubeconfig. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads and merges the kubeconfigs that kubectl would read. Never writes one.
 *
 * @throws PluginError KUBECONFIG
 */
export async function loadKubeconfig(
  environment: Pick<Environment, 'variables' | 'home' | 'workingDirectory'>,
  flag: string | undefined,
): Promise<KubeconfigData> {
  const files = kubeconfigFiles({
    flag,
    variable: environment.variables['KUBECONFIG'],
    home: environment.home,
    workingDirectory: environment.workingDirectory,
  });
  const parsed: KubeconfigData[] = [];
  for (const path of files.paths) {
    const text = await readOptional(path, files.required);
    if (text !== undefined) parsed.push(parseKubeconfig(text, path));
  }
  return mergeKubeconfigs(parsed);
}

async function readOptional(path: string, required: boolean): Promise<string | undefined> {
  try {
    const bytes = await readFile(path);
    if (bytes.byteLength > MAX_BYTES) throw new Error(`larger than ${MAX_BYTES} bytes`);
    return bytes.toString('utf8');
  } catch (error) {
    const missing = typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT';
    if (missing && !required) return undefined;
    throw new PluginError({
      code: 'KUBECONFIG',
      message: `the kubeconfig ${path} ${missing ? 'does not exist' : 'cannot be read'}`,
      remedy: 'name a readable file with --kubeconfig or KUBECONFIG',
      cause: error,
    });
  }
}
