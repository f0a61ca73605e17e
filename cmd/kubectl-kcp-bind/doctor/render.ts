import type { CommandContext } from '../command-context.js';
import type { Colors } from '../output/colors.js';
import { printable } from '../output/printable.js';
import type { Check } from './check.js';
import type { HandshakeFit } from './handshake-fit.js';

const WORDS: Readonly<Record<Check['result'], string>> = {
  ok: 'ok',
  warning: 'warning',
  failed: 'FAILED',
  skipped: 'skipped',
};

/** A line for each check, and one for what to do about it. */
export function renderChecks(checks: readonly Check[], colors: Colors): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const paint = { ok: colors.good, warning: colors.bad, failed: colors.bad, skipped: colors.dim };
  const lines = checks.flatMap(({ message, name, remedy, result }) => [
    `${paint[result](WORDS[result].padEnd(7))}  ${name.padEnd(width)}  ${printable(message)}`,
    ...(remedy === undefined ? [] : [`${' '.repeat(11 + width)}to do: ${printable(remedy)}`]),
  ]);
  return lines.join('\n');
}

/** As data with `-o json|yaml`, as failed names with `-o name`, else for people. */
export async function showChecks(
  context: CommandContext,
  found: { readonly checks: readonly Check[]; readonly handshake: HandshakeFit },
  text: () => string,
): Promise<void> {
  const { format } = context.report;
  const { stdout } = context.environment;
  if (format === 'json') stdout.write(`${JSON.stringify(found, undefined, 4)}\n`);
  else if (format === 'yaml') stdout.write((await import('yaml')).stringify(found, { lineWidth: 0 }));
  else if (format === 'name') {
    for (const { name, result } of found.checks) if (result === 'failed') stdout.write(`${name}\n`);
  } else context.report.result(text());
}
