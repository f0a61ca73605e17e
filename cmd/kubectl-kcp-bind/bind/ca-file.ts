import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';

const MAX_CA_BYTES = 65_536;

/**
 * The PEM certificates of `--ca-file`; undefined where it was not given.
 *
 * @throws PluginError USAGE
 */
export async function readCaFile(
  context: Pick<CommandContext, 'environment'>,
  file: string | undefined,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const path = resolve(context.environment.workingDirectory, file);
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new PluginError({
      code: 'USAGE',
      message: `--ca-file ${file} cannot be read`,
      remedy: 'name a readable file with PEM certificates',
      cause,
    });
  });
  if (!text.includes('-----BEGIN CERTIFICATE-----') || Buffer.byteLength(text) > MAX_CA_BYTES) {
    throw new PluginError({
      code: 'USAGE',
      message: `--ca-file ${file} holds no PEM certificates, or more than ${MAX_CA_BYTES} bytes`,
      remedy: 'name a file with the PEM certificates of the provider’s authority',
    });
  }
  return text;
}
