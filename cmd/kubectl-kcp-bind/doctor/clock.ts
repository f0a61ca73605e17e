import { formatElapsed } from '../output/durations.js';
import { failed, ok, skipped, warning, type Check } from './check.js';

const WARN_MS = 60_000;
/** Tokens and certificates that were just made are refused by then. */
const FAIL_MS = 300_000;

/** A moment that another machine told, and when it was asked, in milliseconds. */
export interface ClockReading {
  readonly of: string;
  readonly theirs: number;
  readonly asked: number;
  readonly answered: number;
}

/** Compares this machine's clock with another one. Theirs has whole seconds. */
export function checkClock(reading: ClockReading | undefined, of: string): Check {
  if (reading === undefined) return skipped('clock', `${of} told no time to compare with`);
  const { answered, asked, theirs } = reading;
  // Anything between the two moments, and the second that was cut off, is no difference.
  const difference =
    theirs + 1000 < asked ? asked - theirs - 1000 : theirs > answered ? theirs - answered : 0;
  const side = theirs < asked ? 'ahead of' : 'behind';
  const text = `this machine's clock is ${formatElapsed(difference)} ${side} that of ${reading.of}`;
  const remedy = 'set the clocks by NTP: logins, tokens and certificates depend on them';
  if (difference >= FAIL_MS) return failed('clock', text, remedy);
  if (difference >= WARN_MS) return warning('clock', text, remedy);
  return ok('clock', `this machine and ${reading.of} agree`);
}
