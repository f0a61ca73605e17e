import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';

import { ROOT } from '../../harness/root.js';

interface Run {
  readonly code: number;
  readonly lines: readonly string[];
}

function make(target: string): Promise<Run> {
  return new Promise((resolve) => {
    // A make that runs these tests must not make this one a part of itself, with lines of its own about folders.
    const ofOuter = { E2E_BENCH: undefined, MAKELEVEL: undefined, MAKEFLAGS: undefined, MFLAGS: undefined };
    const env: NodeJS.ProcessEnv = { ...process.env, ...ofOuter, NODE_OPTIONS: '' };
    execFile('make', [target], { cwd: ROOT, env, maxBuffer: 16 << 20 }, (error, stdout) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, lines: stdout.trim().split('\n') });
    });
  });
}

/** The commands under the first heading that shows any. */
async function readmeCommands(): Promise<string[]> {
  const readme = await readFile(`${ROOT}/README.md`, 'utf8');
  const block = /```console\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  return block.trim().split('\n');
}

describe('the commands in the README', () => {
  it('are make demo and make test, of which this is a part', async () => {
    expect(await readmeCommands()).toEqual(['make demo', 'make test']);
    const makefile = await readFile(`${ROOT}/Makefile`, 'utf8');
    expect(makefile).toMatch(/^test:.*\n\t@node scripts\/test\.mjs$/m);
  });

  it('end the demo with "demo: OK", four headings before it, and exit code 0', async () => {
    const { code, lines } = await make('demo');
    expect({ code, last: lines.at(-1) }).toEqual({ code: 0, last: 'demo: OK' });
    const headings = lines.filter((line) => line.startsWith('== '));
    expect(headings.map((line) => line.slice(0, 5))).toEqual(['== 1.', '== 2.', '== 3.', '== 4.']);
    const commands = lines.filter((line) => line.startsWith('$ KUBECONFIG='));
    expect(commands.length).toBeGreaterThanOrEqual(9);
    const table = lines.slice(lines.indexOf('Who has what:') + 2, lines.indexOf('Who has what:') + 4);
    expect(table.map((line) => line.trim().split(/\s+/).slice(0, 2))).toEqual([
      ['root:alice', 'postgres'],
      ['root:bob', 'mysql'],
    ]);
  }, 600_000);
});
