import type { Clock } from '../../kube/clock.js';
import type { ReadMessage } from '../protocol/read-from-worker.js';
import type { FromWorker, ToWorker } from '../protocol/report.js';
import { createMessageBudget, type MessageBudget } from './message-budget.js';
import { failureOfExit, type WorkerFailure } from './worker-failure.js';
import type { WorkerExit, WorkerHandle, WorkerLimits } from './worker-handle.js';

/** An invalid message costs as much of the budget as so many valid ones. */
const INVALID_COST = 50;
/** The watchdog looks so often in one time of allowed silence. */
const LOOKS = 6;

export interface SupervisedWorkerOptions {
  readonly handle: WorkerHandle;
  readonly limits: WorkerLimits;
  readonly clock: Clock;
  readonly read: (value: unknown) => ReadMessage;
  readonly onMessage: (message: FromWorker) => void;
  /** `path`: where the message breaks the protocol. */
  readonly onInvalid: (path: string) => void;
  /** Called once, after the thread is gone. No failure: it was told to stop. */
  readonly onEnd: (failure: WorkerFailure | undefined, error: unknown) => void;
}

/**
 * One thread under watch: its messages are checked and counted, its pulse and its memory outside of the heap are
 * looked at. Whoever breaks a limit is ended, and nothing that it says afterwards counts.
 */
export class SupervisedWorker {
  /** How many bindings are in it; the pool counts. Each may say something. */
  bindings = 0;
  readonly #options: SupervisedWorkerOptions;
  readonly #budget: MessageBudget;
  #lastPulse: number;
  #lastLook: number;
  #doom: WorkerFailure | undefined;
  #stopping = false;
  #ended = false;
  #cancelTimer: () => void = () => undefined;
  readonly #gone: Promise<void>;
  #resolveGone: () => void = () => undefined;

  constructor(options: SupervisedWorkerOptions) {
    const { handle, limits, clock } = options;
    this.#options = options;
    this.#gone = new Promise((resolve) => (this.#resolveGone = resolve));
    this.#budget = createMessageBudget(
      () => {
        const more = this.bindings * limits.messagesPerBinding;
        return { burst: limits.messageBurst + 10 * more, perSecond: limits.messagesPerSecond + more };
      },
      () => clock.now(),
    );
    this.#lastPulse = this.#lastLook = clock.now();
    handle.onMessage((value) => this.#receive(value));
    handle.onExit((exit) => this.#exited(exit));
    this.#watch();
  }

  post(message: ToWorker): void {
    if (!this.#ended) this.#options.handle.post(message);
  }

  /** Ends the thread at once; `onEnd` tells why when it is gone. */
  fail(failure: WorkerFailure): void {
    if (this.#ended || this.#doom !== undefined) return;
    this.#doom = failure;
    this.#options.handle.terminate();
  }

  /** Asks the thread to end and ends it after `closeMs`; resolves when it is gone. Idempotent. */
  stop(): Promise<void> {
    if (!this.#stopping && !this.#ended) {
      this.#stopping = true;
      this.#cancelTimer();
      this.post({ type: 'stop' });
      this.#cancelTimer = this.#options.clock.after(this.#options.limits.closeMs, () =>
        this.#options.handle.terminate(),
      );
    }
    return this.#gone;
  }

  #receive(value: unknown): void {
    if (this.#ended || this.#doom !== undefined) return;
    const result = this.#options.read(value);
    const withinBudget = this.#budget.take(result.ok ? 1 : INVALID_COST);
    if (!withinBudget) {
      this.fail({ cause: 'flood' });
      return;
    }
    if (!result.ok) this.#options.onInvalid(result.path);
    else if (result.message.type === 'pulse') this.#pulse(result.message);
    else this.#options.onMessage(result.message);
  }

  #pulse(pulse: Extract<FromWorker, { type: 'pulse' }>): void {
    this.#lastPulse = this.#options.clock.now();
    if (pulse.externalBytes > this.#options.limits.externalBytes) {
      this.fail({ cause: 'external-memory', bytes: pulse.externalBytes });
    } else this.#options.onMessage(pulse);
  }

  #watch(): void {
    const { clock, limits } = this.#options;
    const interval = limits.silenceMs / LOOKS;
    this.#cancelTimer = clock.after(interval, () => {
      const now = clock.now();
      // A late look means that this process stood still: pulses may wait to be read, so the silence starts anew.
      if (now - this.#lastLook > 2 * interval) this.#lastPulse = now;
      this.#lastLook = now;
      if (now - this.#lastPulse > limits.silenceMs) this.fail({ cause: 'unresponsive' });
      else this.#watch();
    });
  }

  #exited(exit: WorkerExit): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelTimer();
    this.#options.onEnd(this.#doom ?? (this.#stopping ? undefined : failureOfExit(exit)), exit.error);
    this.#resolveGone();
  }
}
