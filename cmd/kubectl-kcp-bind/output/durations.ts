import { usageError } from '../errors.js';

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const MAX_MS = 24 * 3_600_000;

/**
 * Reads a duration as kubectl writes it: `90s`, `5m`, `1h30m`, `500ms`. At most 24 hours.
 *
 * @throws PluginError USAGE, naming the flag
 */
export function parseDuration(text: string, flag: string): number {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) {
    throw usageError(`${flag} ${JSON.stringify(text)} is no duration`, 'write it like 90s, 5m or 1h30m');
  }
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
  }
  if (total <= 0 || total > MAX_MS) {
    throw usageError(`${flag} ${text} is out of range`, 'choose more than zero and at most 24h');
  }
  return Math.ceil(total);
}

/** Elapsed time for people: `7s`, `2m05s`, `1h02m`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m${String(seconds % 60).padStart(2, '0')}s`;
  return `${Math.floor(minutes / 60)}h${String(minutes % 60).padStart(2, '0')}m`;
}

/** Age of an object in one unit, as kubectl's tables show it; `<unknown>` where there is no time. */
export function formatAge(creationTimestamp: string | undefined, now: number): string {
  const created = creationTimestamp === undefined ? Number.NaN : Date.parse(creationTimestamp);
  if (Number.isNaN(created)) return '<unknown>';
  const seconds = Math.max(0, Math.floor((now - created) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
