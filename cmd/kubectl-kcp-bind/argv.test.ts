import { describe, expect, it } from '@jest/globals';
import { firstOperand, normalizeArguments } from './argv.js';
import { isForKcp } from './passthrough.js';
import { createProgram } from './program.js';

describe('arguments', () => {
  it.each([
    [
      ['--dry-run', 'https://x'],
      ['--dry-run=client', 'https://x'],
    ],
    [['--dry-run=server'], ['--dry-run=server']],
    [
      ['--wait=false', '--browser=true'],
      ['--no-wait', '--browser'],
    ],
    [
      ['--no-wait=true', '--no-browser=false'],
      ['--no-wait', '--browser'],
    ],
    [
      ['-v=6', '-v6', '--v=0'],
      ['--verbose', '--verbose', '--no-verbose'],
    ],
    [
      ['-o=json', '-ojson', '-o', 'json'],
      ['-ojson', '-ojson', '-o', 'json'],
    ],
    [['--template=true'], ['--template=true']],
    [
      ['--', '--dry-run'],
      ['--', '--dry-run'],
    ],
  ])('%j become %j', (given, expected) => expect(normalizeArguments(given)).toEqual(expected));

  it.each([
    [['apiexport', 'root:x'], 'apiexport'],
    [['--kubeconfig', 'file', 'list'], 'list'],
    [['--kubeconfig=file', '-o', 'json', '--quiet', 'list'], 'list'],
    [['--', 'x'], 'x'],
    [['--help'], undefined],
  ])('%j begin with the operand %s', (argv, operand) => expect(firstOperand(argv)).toBe(operand));

  it.each([
    [['apiexport', 'root:org:x', '--name', 'y'], true],
    [['--context', 'a', 'compute', 'x'], true],
    [['https://bind.example.com'], false],
    [['bind.example.com'], false],
    [['list'], false],
    [['--template', 'apiexport', 'https://x'], false],
    [[], false],
  ])('%j are for kcp’s own plugin: %s', (argv, expected) => expect(isForKcp(argv)).toBe(expected));

  it('with a value are known as such, so that a value is never taken for a command', () => {
    const program = createProgram({ invoke: async () => undefined, version: '', writeOut: () => undefined });
    const valued = [program, ...program.commands].flatMap((command) =>
      command.options.filter((option) => option.required).flatMap((option) => [option.long, option.short]),
    );
    for (const flag of valued) {
      // --dry-run stands alone unless it has a =.
      if (flag === undefined || flag === '--dry-run') continue;
      expect([flag, firstOperand([flag, 'value', 'operand'])]).toEqual([flag, 'operand']);
    }
  });
});
