import { readFile } from 'node:fs/promises';
import { describe, expect, it } from '@jest/globals';
import { renderReference } from './command-reference.js';
import { OWN_COMMANDS } from './passthrough.js';
import { createProgram } from './program.js';

describe('docs/reference/plugin-commands.md', () => {
  const program = createProgram({ invoke: async () => undefined, version: '', writeOut: () => undefined });

  it('is what the commands say (`make reference` writes it)', async () => {
    expect(await readFile('docs/reference/plugin-commands.md', 'utf8')).toBe(renderReference(program));
  });

  it('has a page for each word that is not handed to kcp’s own plugin', () => {
    const names = program.commands.map((command) => command.name());
    expect([...names, 'help'].sort()).toEqual([...OWN_COMMANDS].sort());
  });
});
