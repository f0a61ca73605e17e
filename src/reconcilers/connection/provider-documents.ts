import { BackendError } from '../../backend/errors.js';
import type { BackendErrorCode } from '../../backend/errors.js';
import type { BackendApi } from '../../backend/http/backend-api.js';
import { AddressDeniedError, TransportError } from '../../kube/errors.js';
import type { Clock } from '../../kube/clock.js';
import { FairOrder } from '../../kube/fair-order.js';
import { detail } from '../conditions.js';
import type { QueueKey } from '../keys.js';
import type { ConnectionSpec } from '../views.js';
import type { ProviderProbe } from './observation.js';

type Backend = NonNullable<ConnectionSpec['backend']>;

/** How long an answer counts, and how soon a failure is looked at again. */
const GOOD_MS = 10 * 60_000;
const FIRST_RETRY_MS = 5_000;
const LAST_RETRY_MS = 5 * 60_000;
/** Backends are slow when their owners want them to be: few at a time, fewer of one workspace. */
const MAX_OPEN = 32;
const MAX_OPEN_PER_CLUSTER = 4;

interface Entry {
  readonly backend: string;
  probe: ProviderProbe;
  askAgainAt: number;
  failures: number;
  open: boolean;
}

/**
 * Provider documents of connections' backends, asked for in the background so that a slow backend holds up
 * nobody's queue.
 */
export class ProviderDocuments {
  readonly #api: (backend: Backend) => BackendApi;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #changed: (key: QueueKey) => void;
  readonly #signal: AbortSignal;
  readonly #entries = new Map<QueueKey, Entry>();
  readonly #waiting = new Map<QueueKey, () => void>();
  readonly #order = new FairOrder<QueueKey>((key) => key.slice(0, key.indexOf('|')), MAX_OPEN_PER_CLUSTER);
  /** Questions that are being asked now. */
  #open = 0;

  constructor(options: {
    readonly api: (backend: Backend) => BackendApi;
    readonly clock: Pick<Clock, 'now'>;
    /** An answer, or a failure, came in. */
    readonly changed: (key: QueueKey) => void;
    readonly signal: AbortSignal;
  }) {
    this.#api = options.api;
    this.#clock = options.clock;
    this.#changed = options.changed;
    this.#signal = options.signal;
  }

  /** What is known now; starts to ask when that is too old. */
  get(key: QueueKey, backend: Backend): ProviderProbe {
    const identity = JSON.stringify(backend);
    let entry = this.#entries.get(key);
    if (entry?.backend !== identity) {
      entry = { backend: identity, probe: { kind: 'pending' }, askAgainAt: 0, failures: 0, open: false };
      this.#entries.set(key, entry);
    }
    if (!entry.open && this.#clock.now() >= entry.askAgainAt) this.#start(key, entry, backend);
    return entry.probe;
  }

  /** Milliseconds until the answer should be asked for again; undefined while it is being asked for. */
  askAgainInMs(key: QueueKey): number | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || entry.open ? undefined : Math.max(0, entry.askAgainAt - this.#clock.now());
  }

  forget(key: QueueKey): void {
    this.#entries.delete(key);
    this.#waiting.delete(key);
  }

  #start(key: QueueKey, entry: Entry, backend: Backend): void {
    entry.open = true;
    this.#waiting.set(key, () => {
      void this.#ask(backend).then((probe) => {
        this.#open -= 1;
        this.#order.release(key);
        this.#next();
        entry.open = false;
        entry.failures = probe.kind === 'failed' ? entry.failures + 1 : 0;
        entry.probe = probe;
        const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(10, entry.failures - 1));
        entry.askAgainAt = this.#clock.now() + (probe.kind === 'failed' ? wait : GOOD_MS);
        if (this.#entries.get(key) === entry) this.#changed(key);
      });
    });
    this.#order.push(key);
    this.#next();
  }

  /** Workspaces take turns: one with a thousand slow backends delays another by one question. */
  #next(): void {
    while (this.#open < MAX_OPEN) {
      const key = this.#order.shift();
      if (key === undefined) return;
      const run = this.#waiting.get(key);
      this.#waiting.delete(key);
      if (run === undefined) {
        // Forgotten while it waited.
        this.#order.release(key);
        continue;
      }
      this.#open += 1;
      run();
    }
  }

  async #ask(backend: Backend): Promise<ProviderProbe> {
    try {
      const { prettyName, version } = await this.#api(backend).provider(this.#signal);
      return { kind: 'reachable', prettyName, version };
    } catch (error) {
      return failedProbe(error, backend.url);
    }
  }
}

const BACKEND_REASONS = new Map<
  BackendErrorCode,
  'InvalidURL' | 'UnsupportedBackend' | 'ForeignAuthorizeURL'
>([
  ['BACKEND_INVALID_URL', 'InvalidURL'],
  ['BACKEND_UNSUPPORTED', 'UnsupportedBackend'],
  ['BACKEND_FOREIGN_AUTHORIZE_URL', 'ForeignAuthorizeURL'],
]);

/** The reason of condition BackendReachable for an error of the backend's API. */
export function failedProbe(error: unknown, url: string): ProviderProbe {
  const message = detail(error instanceof Error ? error.message : String(error));
  if (error instanceof BackendError) {
    const reason = BACKEND_REASONS.get(error.code) ?? (error.temporary ? 'Unreachable' : 'NotABackend');
    return { kind: 'failed', reason, message };
  }
  if (error instanceof AddressDeniedError) return { kind: 'failed', reason: 'AddressDenied', message };
  if (error instanceof TransportError && error.kind === 'tls') {
    return {
      kind: 'failed',
      reason: 'TLSFailed',
      message: `${message} The certificate of ${url} is not trusted: set spec.backend.caBundle to its authority.`,
    };
  }
  return {
    kind: 'failed',
    reason: 'Unreachable',
    message: `${message} It is tried again; check spec.backend.url, and that the backend runs.`,
  };
}
