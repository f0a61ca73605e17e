import type { PluginError } from './errors.js';
import type { Colors } from './output/colors.js';
import { printable } from './output/printable.js';

const MAX_CAUSES = 8;

/** One line of cause, one of remedy; with `verbose` the code and the chain of causes. */
export function renderError(error: PluginError, colors: Colors, verbose: boolean): string {
  const lines = [
    `${colors.bad('error:')} ${printable(error.message)}`,
    `  ${colors.dim('to do:')} ${printable(error.remedy)}`,
  ];
  if (verbose) lines.push(`  code: ${error.code} (exit ${error.exitCode})`, ...causes(error));
  return `${lines.join('\n')}\n`;
}

function causes(error: PluginError): string[] {
  const lines: string[] = [];
  let cause = error.cause;
  // Only a defect of this program is worth its stack.
  const stack = error.code === 'INTERNAL' && cause instanceof Error ? cause.stack : undefined;
  while (cause instanceof Error && lines.length < MAX_CAUSES) {
    lines.push(`  cause: ${printable(`${cause.name}: ${cause.message}`)}`);
    cause = cause.cause;
  }
  return stack === undefined ? lines : [...lines, stack];
}
