import { isJsonObject, type JsonObject, type JsonValue } from '../../kube/json-value.js';

/**
 * What is stated about a condition of an object on the provider. The form is that of cluster-api's first condition
 * types: severity goes with False only.
 */
export interface ProviderCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly severity?: 'Error' | 'Warning' | 'Info';
  readonly reason?: string;
  readonly message?: string;
}

const MAX_FOREIGN = 64;
const STATED = ['status', 'severity', 'reason', 'message'] as const;

/**
 * The conditions of an object after ours were stated: others stay, one that says the same keeps its transition time,
 * `Ready` comes first and the rest in order of type. With `summary`, `Ready` sums up all others.
 *
 * @param current - `status.conditions` as it was read; anything but a list counts as empty
 * @param now - RFC 3339, whole seconds
 */
export function mergeConditions(
  current: JsonValue | undefined,
  stated: readonly ProviderCondition[],
  now: string,
  options: { readonly summary: boolean },
): JsonObject[] {
  const merged = new Map<string, JsonObject>();
  for (const condition of Array.isArray(current) ? current.slice(0, MAX_FOREIGN) : []) {
    const type = isJsonObject(condition) ? condition['type'] : undefined;
    if (isJsonObject(condition) && typeof type === 'string') merged.set(type, condition);
  }
  const state = (condition: ProviderCondition) =>
    merged.set(condition.type, transition(merged.get(condition.type), condition, now));
  for (const condition of stated) state(condition);
  if (options.summary) state(summarize([...merged.values()].filter((one) => one['type'] !== 'Ready')));
  return [...merged.values()].sort(byType);
}

function transition(previous: JsonObject | undefined, next: ProviderCondition, now: string): JsonObject {
  if (previous !== undefined && STATED.every((key) => (previous[key] ?? '') === (next[key] ?? '')))
    return previous;
  return { ...next, lastTransitionTime: now };
}

/** Worst first; what has no severity counts between Info and True, as nobody knows how bad it is. */
const RANKS = ['False/Error', 'False/Warning', 'False/Info', 'False/', 'True/', 'Unknown/'];

function summarize(conditions: readonly JsonObject[]): ProviderCondition {
  const [worst] = [...conditions].sort((a, b) => rank(a) - rank(b) || byType(a, b));
  if (worst === undefined || worst['status'] === 'True') return { type: 'Ready', status: 'True' };
  const { reason, message, severity } = worst;
  return {
    type: 'Ready',
    status: worst['status'] === 'False' ? 'False' : 'Unknown',
    ...(severity === 'Error' || severity === 'Warning' || severity === 'Info' ? { severity } : {}),
    ...(typeof reason === 'string' ? { reason } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

function rank(condition: JsonObject): number {
  const { status, severity } = condition;
  const key = `${typeof status === 'string' ? status : ''}/${status === 'False' && typeof severity === 'string' ? severity : ''}`;
  const index = RANKS.indexOf(key);
  return index === -1 ? RANKS.length : index;
}

function byType(a: JsonObject, b: JsonObject): number {
  return sortKey(a) < sortKey(b) ? -1 : 1;
}

function sortKey(condition: JsonObject): string {
  const { type } = condition;
  return typeof type !== 'string' || type === 'Ready' ? '' : type;
}
