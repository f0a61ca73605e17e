import { kubectl } from './kubectl.js';
import { waitFor } from './wait-for.js';

/** One condition of a KubeBindConnection or KubeBindBinding, as users see it. */
export interface SeenCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

export type OurKind = 'kubebindbinding' | 'kubebindconnection';

/** The condition of that type; undefined where status has none yet. */
export async function readCondition(
  kubeconfig: string,
  kind: OurKind,
  name: string,
  type: string,
): Promise<SeenCondition | undefined> {
  const text = await kubectl(kubeconfig, ['get', kind, name, '-o', 'json']);
  const { status } = JSON.parse(text) as { status?: { conditions?: SeenCondition[] } };
  return status?.conditions?.find((condition) => condition.type === type);
}

/** Waits until a condition is known and has a reason, and gives it. */
export async function conditionWith(
  kubeconfig: string,
  kind: OurKind,
  name: string,
  wanted: { readonly type: string; readonly reason: string; readonly timeout?: number },
): Promise<SeenCondition> {
  const { type, reason, timeout = 120_000 } = wanted;
  let seen: SeenCondition | undefined;
  return waitFor(
    async () => {
      seen = await readCondition(kubeconfig, kind, name, type);
      // Unknown says what is not known yet, often with the reason that it turns out to have.
      return seen?.reason === reason && seen.status !== 'Unknown' && seen;
    },
    { what: `${kind} ${name} to say ${type}: ${reason}`, timeout, interval: 200 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; it says ${JSON.stringify(seen)}`);
  });
}
