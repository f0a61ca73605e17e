import type { KubeClient } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import { parseTimestamp } from '../conditions.js';
import { textAt } from '../views.js';

/** Seconds that a worker's token lives. */
const LIFETIME_S = 3600;
/** It is renewed after this part of its life, and shortly before its end used no more. */
const RENEW_AFTER = 0.6;
const MARGIN_MS = 60_000;

interface Token {
  readonly token: string;
  readonly renewAt: number;
  readonly endsAt: number;
}

/** Thrown when kcp answers a TokenRequest with something that is none. */
export class TokenAnswerError extends Error {
  override readonly name = 'TokenAnswerError';
}

/**
 * Short-lived tokens of the generated exports' ServiceAccounts. In memory only: a restart asks for others.
 */
export class AccountTokens {
  readonly #client: KubeClient;
  readonly #namespace: string;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #tokens = new Map<string, Token>();

  constructor(client: KubeClient, namespace: string, clock: Pick<Clock, 'now'>) {
    this.#client = client;
    this.#namespace = namespace;
    this.#clock = clock;
  }

  /** The token in use; undefined when there is none or it should be renewed. */
  current(account: string): string | undefined {
    const token = this.#tokens.get(account);
    return token !== undefined && this.#clock.now() < token.renewAt ? token.token : undefined;
  }

  /** One that still works although its renewal failed. */
  stillGood(account: string): string | undefined {
    const token = this.#tokens.get(account);
    return token !== undefined && this.#clock.now() < token.endsAt - MARGIN_MS ? token.token : undefined;
  }

  /** Milliseconds until the token should be renewed; undefined without one. */
  renewInMs(account: string): number | undefined {
    const token = this.#tokens.get(account);
    return token === undefined ? undefined : Math.max(0, token.renewAt - this.#clock.now());
  }

  /** Asks for a new one. Rejects with ApiError(404) when the ServiceAccount is not there. */
  async request(account: string): Promise<string> {
    const path = `/api/v1/namespaces/${this.#namespace}/serviceaccounts/${account}/token`;
    const asked = this.#clock.now();
    const answer = await this.#client.raw('POST', path, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: LIFETIME_S },
    });
    const token = textAt(answer, 'status', 'token');
    if (token === undefined || token === '')
      throw new TokenAnswerError(`no token in the answer for ${account}`);
    const ends = parseTimestamp(textAt(answer, 'status', 'expirationTimestamp'));
    // The server's clock may differ from ours: only the length of the life is taken from its answer, and it
    // never makes the life longer than what was asked for.
    const life = Math.min(LIFETIME_S * 1000, Math.max(0, (ends ?? 0) - asked));
    this.#tokens.set(account, { token, renewAt: asked + life * RENEW_AFTER, endsAt: asked + life });
    return token;
  }

  forget(account: string): void {
    this.#tokens.delete(account);
  }
}
