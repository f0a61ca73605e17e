import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EXIT_CODES } from './exit-codes.js';
import { createProgram } from './program.js';

const reference = readFileSync('docs/reference/plugin.md', 'utf8');

describe('the plugin’s reference', () => {
  it('lists each exit code once', () => {
    const documented = [...reference.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    expect(documented).toEqual(Object.values(EXIT_CODES).sort((a, b) => a - b));
  });

  it('names each command and each flag', () => {
    const program = createProgram({ invoke: async () => undefined, version: '', writeOut: () => undefined });
    for (const command of program.commands) expect(reference).toContain(`kubectl kcp bind ${command.name()}`);
    const flags = [program, ...program.commands]
      .flatMap((command) => command.options)
      .filter((option) => !option.hidden && option.long !== '--version')
      .map((option) => option.long ?? '');
    for (const flag of flags) {
      const spelled =
        flag === '--no-wait'
          ? '--wait=false'
          : flag === '--output'
            ? '-o'
            : flag === '--verbose'
              ? '-v'
              : flag;
      expect(reference).toContain(spelled);
    }
  });
});
