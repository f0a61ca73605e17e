const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds as Go writes a duration of whole seconds: `45s`, `5m0s`, `1h0m0s`. Fractions are rounded. */
export function formatGoDuration(milliseconds: number): string {
  const total = Math.max(0, Math.round(milliseconds / 1000));
  const [hours, minutes, seconds] = [Math.floor(total / 3600), Math.floor(total / 60) % 60, total % 60];
  if (hours > 0) return `${hours}h${minutes}m${seconds}s`;
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`;
}

/** Milliseconds of a Go duration text; undefined for any other text and for negative durations. */
export function parseGoDuration(text: string): number | undefined {
  if (text.length > 64 || !/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text))
    return text === '0' ? 0 : undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g))
    total += Number(amount) * (UNITS[unit ?? ''] ?? 0);
  return total;
}
