import type { Drain } from './crashes.js';
import type { Comparison } from './verdict.js';
import type { FaultKind } from './weather.js';

/** How a soak ended. */
export interface SoakReport {
  readonly seed: number;
  readonly seconds: number;
  readonly kills: number;
  /** Threads that were ended. */
  readonly terminations: number;
  readonly faults: ReadonlyMap<FaultKind, { readonly faults: number; readonly hits: number }>;
  readonly acts: number;
  readonly rounds: number;
  readonly end: Comparison;
  /** Seconds from the last fault until everything was as wanted; undefined: it never was. */
  readonly convergedIn: number | undefined;
  /** At any time, as the provider saw it. */
  readonly duplicatedMeanwhile: readonly string[];
  readonly lostMeanwhile: readonly string[];
  readonly foreign: number;
  readonly foreignTouched: readonly string[];
  readonly unexpectedEnds: readonly string[];
  readonly drains: readonly Drain[];
}

/** Longest time that the end of a controller may take after SIGTERM, in milliseconds. */
const DRAIN_MS = 10_000;

/** Everything that is not as it has to be; empty for a clean run. */
export function problemsOf(report: SoakReport): string[] {
  const { end } = report;
  const each = (what: string, names: readonly string[]): string[] => names.map((name) => `${what}: ${name}`);
  return [
    ...(report.convergedIn === undefined ? ['not everything became as wanted'] : []),
    ...each('lost', end.lost),
    ...each('a copy was deleted that nobody had released', report.lostMeanwhile),
    ...each('not as wanted', end.behind),
    ...each('duplicated', [...end.duplicated, ...report.duplicatedMeanwhile]),
    ...each('left over', end.leftOver),
    ...each('foreign object touched', report.foreignTouched),
    ...each('the controller ended by itself', report.unexpectedEnds),
    ...report.drains
      .filter(({ ms }) => ms >= DRAIN_MS)
      .map(({ ms }) => `SIGTERM took ${ms} ms to end the controller`),
  ];
}

/** The table at the end of a soak. */
export function tableOf(report: SoakReport): string {
  const { end, drains } = report;
  const rows: [string, string | number][] = [
    ...[...report.faults].map(([kind, { faults, hits }]): [string, string] => [
      `fault: ${kind}`,
      `${faults} (${hits} requests and streams)`,
    ]),
    ['fault: controller killed (SIGKILL)', report.kills],
    ['fault: controller told to end (SIGTERM)', drains.length],
    ['fault: worker terminated', report.terminations],
    ['acts of users', report.acts],
    ['times bound and unbound', report.rounds],
    ['objects expected', end.expected],
    ['objects found', end.found],
    ['objects duplicated', end.duplicated.length + report.duplicatedMeanwhile.length],
    ['objects lost', end.lost.length + report.lostMeanwhile.length],
    ['objects left over', end.leftOver.length],
    ['objects not as wanted', end.behind.length],
    ['foreign objects', report.foreign],
    ['foreign objects touched', report.foreignTouched.length],
    ['seconds until all was as wanted', report.convergedIn ?? 'never'],
    ['slowest end after SIGTERM, in ms', Math.max(0, ...drains.map(({ ms }) => ms))],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n');
}
