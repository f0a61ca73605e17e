import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BINDING_REASONS, CONNECTION_REASONS } from './conditions.js';

interface Source {
  readonly path: string;
  readonly text: string;
}

const ROOT = join(import.meta.dirname, '..');
const sources: readonly Source[] = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.startsWith('api/'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
const isTest = ({ path }: Source) => path.endsWith('.test.ts');
const isCode = (source: Source) => !isTest(source) && !source.path.includes('/testing/');

const closed = [...pairs('connection', CONNECTION_REASONS), ...pairs('binding', BINDING_REASONS)];

/** What tests have seen being decided, with the folder that they test. */
const produced = sources
  .filter((source) => isTest(source) && /\bexpectReason\(/.test(source.text))
  .flatMap(({ path, text }) =>
    [...text.matchAll(/'((?:connection|binding)\/\w+\/\w+)'/g)].map((match) => ({
      reason: match[1] ?? '',
      folder: dirname(path),
    })),
  );

function pairs(kind: string, reasons: Readonly<Record<string, readonly string[]>>): string[] {
  return Object.entries(reasons).flatMap(([type, list]) => list.map((reason) => `${kind}/${type}/${reason}`));
}

/** Code in the folder, or below it, that writes the reason out. */
function isDecidedIn(folder: string, pair: string): boolean {
  const literal = `'${pair.split('/')[2] ?? ''}'`;
  return sources.some(
    (source) => isCode(source) && source.path.startsWith(`${folder}/`) && source.text.includes(literal),
  );
}

describe('every reason of a condition', () => {
  it('is produced by the code that some test tests', () => {
    const seen = new Set(produced.map(({ reason }) => reason));
    expect(closed.filter((pair) => !seen.has(pair))).toEqual([]);
  });

  it('is asserted beside the code that decides on it, not where it is passed on', () => {
    expect(produced.filter(({ reason, folder }) => !isDecidedIn(folder, reason))).toEqual([]);
  });

  it('belongs to the closed lists', () => {
    expect(produced.map(({ reason }) => reason).filter((pair) => !closed.includes(pair))).toEqual([]);
  });
});
