import type { Condition, ConditionState } from '../api/conditions.js';
import { untrustedText } from '../api/untrusted-text.js';

/** Messages hold texts of providers; the API takes 32768, people read far less. */
const MAX_MESSAGE = 8192;
/** The YAML in a message needs its line breaks; only what others wrote is put on one line. */
const MAX_DETAIL = 1024;

/** Whole-second RFC 3339, as Kubernetes writes times. */
export function timestamp(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** Milliseconds of an RFC 3339 time; undefined for anything else. */
export function parseTimestamp(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}

/** A server's or provider's text as part of a message: one line, bounded. */
export function detail(text: unknown): string {
  return untrustedText(text, MAX_DETAIL);
}

export const yes = (reason: string, message = ''): ConditionState => ({ status: 'True', reason, message });
export const no = (reason: string, message: string): ConditionState => ({ status: 'False', reason, message });
export const unknown = (reason: string, message: string): ConditionState => ({
  status: 'Unknown',
  reason,
  message,
});

/**
 * The condition list to write: one entry for each stated type, in the order given. A transition time is kept
 * while the status of that type stays the same, so that an unchanged statement gives an unchanged list.
 *
 * @param previous `status.conditions` as read; anybody may have written it
 */
export function mergeConditions(
  previous: unknown,
  stated: readonly (readonly [type: string, state: ConditionState])[],
  at: { readonly now: number; readonly generation: number | undefined },
): Condition[] {
  const times = previousTimes(previous);
  return stated.map(([type, state]) => {
    const before = times.get(type);
    const kept = before?.status === state.status ? before.time : undefined;
    return {
      type,
      status: state.status,
      reason: state.reason,
      message: cut(state.message),
      lastTransitionTime: kept ?? timestamp(at.now),
      ...(at.generation === undefined ? {} : { observedGeneration: at.generation }),
    };
  });
}

function previousTimes(previous: unknown): Map<string, { status: string; time: string }> {
  const times = new Map<string, { status: string; time: string }>();
  if (!Array.isArray(previous)) return times;
  for (const entry of previous as unknown[]) {
    if (typeof entry !== 'object' || entry === null) continue;
    const { type, status, lastTransitionTime: time } = entry as Record<string, unknown>;
    if (typeof type !== 'string' || typeof status !== 'string' || typeof time !== 'string') continue;
    if (parseTimestamp(time) !== undefined) times.set(type, { status, time });
  }
  return times;
}

function cut(message: string): string {
  if (message.length <= MAX_MESSAGE) return message;
  return `${message.slice(0, MAX_MESSAGE - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
