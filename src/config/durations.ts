import { InvalidArgumentError } from 'commander';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;

/** Milliseconds from a duration such as `500ms`, `10s`, `5m` or `1h`. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text);
  const unit = match?.[2] as keyof typeof UNIT_MS | undefined;
  if (!match || unit === undefined) {
    throw new InvalidArgumentError('Give a duration such as 500ms, 10s, 5m or 1h.');
  }
  return Number(match[1]) * UNIT_MS[unit];
}

/** A whole number in a range, both ends included. */
export function parseWhole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max) {
      throw new InvalidArgumentError(`Give a whole number from ${min} to ${max}.`);
    }
    return value;
  };
}

/** Adds a repeated option's value to those given before. */
export function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, ...value.split(',').filter((item) => item !== '')];
}

/** `true` or `false`, also from the environment: a variable that says `false` must not switch something on. */
export function parseBoolean(text: string): boolean {
  if (text === 'true') return true;
  if (text === 'false') return false;
  throw new InvalidArgumentError('Give true or false.');
}
