import type { ConditionState } from '../../api/conditions.js';
import type { ProviderContract } from '../../backend/provider/contract.js';
import { beat } from '../../backend/provider/heartbeat.js';
import type { Clock } from '../../kube/clock.js';
import type { BindingAssignment } from '../protocol/assignment.js';
import { sentence } from './preparation.js';

export interface HeartbeatOptions {
  readonly clock: Clock;
  /** The interval that is promised to the provider, in milliseconds. */
  readonly intervalMs: number;
  /** Text for `konnectorVersion`. */
  readonly version: string;
}

/** Looks per promised interval: a beat is written when the last is older than half of it. */
const LOOKS = 4;
const MAX_PAUSE_MS = 60_000;

/** Beats for a connection, where its binding is asked to. */
export class Heartbeats {
  readonly #options: HeartbeatOptions;
  #nextAt = Number.NEGATIVE_INFINITY;
  #state: ConditionState | undefined;
  #prettyName: string | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** The connection's `Heartbeating`; undefined while this binding does not beat. */
  get state(): ConditionState | undefined {
    return this.#state;
  }

  /** The name that the provider gives itself. */
  get prettyName(): string | undefined {
    return this.#prettyName;
  }

  /** True while somebody else beats in our contract namespace. */
  get foreign(): boolean {
    return this.#state?.reason === 'ForeignKonnector';
  }

  /** When to look again, in milliseconds since the epoch; infinite while this binding does not beat. */
  get nextAt(): number {
    return this.#state === undefined ? Number.POSITIVE_INFINITY : this.#nextAt;
  }

  /** Beats when it is time. Rejects with the errors of KubeClient. */
  async pass(
    contract: ProviderContract,
    heartbeat: BindingAssignment['heartbeat'],
    request: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<void> {
    const { clock, intervalMs, version } = this.#options;
    if (heartbeat === undefined) {
      this.#state = undefined;
      this.#nextAt = Number.NEGATIVE_INFINITY;
      return;
    }
    if (clock.now() < this.#nextAt) return;
    const secret = { namespace: heartbeat.secretNamespace, name: heartbeat.secretName };
    const outcome = await beat(contract, { secret, version, intervalMs }, { clock, ...request });
    this.#nextAt = clock.now() + Math.min(intervalMs / LOOKS, MAX_PAUSE_MS);
    if (outcome.state === 'Beating') {
      this.#prettyName = outcome.prettyName;
      this.#state = { status: 'True', reason: 'Beating', message: 'The provider hears from us.' };
    } else this.#state = { status: 'False', reason: outcome.state, message: sentence(outcome.message) };
  }
}
