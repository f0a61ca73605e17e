import type { KubeClient } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import { parseTimestamp } from '../conditions.js';
import { textAt } from '../views.js';

/** Tokens for each account: how many requests a worker has under way at once (docs/decisions/0010-tokens-by-lane.md). */
const LANES = 8;
/** Seconds that a worker's token lives. */
const LIFETIME_S = 3600;
/** It is renewed after this part of its life, and shortly before its end used no more. */
const RENEW_AFTER = 0.6;
const MARGIN_MS = 60_000;

interface Issued {
  readonly tokens: readonly string[];
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
  readonly #tokens = new Map<string, Issued>();

  constructor(client: KubeClient, namespace: string, clock: Pick<Clock, 'now'>) {
    this.#client = client;
    this.#namespace = namespace;
    this.#clock = clock;
  }

  /** The tokens in use; undefined when there are none or they should be renewed. */
  current(account: string): readonly string[] | undefined {
    const issued = this.#tokens.get(account);
    return issued !== undefined && this.#clock.now() < issued.renewAt ? issued.tokens : undefined;
  }

  /** Those that still work although their renewal failed. */
  stillGood(account: string): readonly string[] | undefined {
    const issued = this.#tokens.get(account);
    return issued !== undefined && this.#clock.now() < issued.endsAt - MARGIN_MS ? issued.tokens : undefined;
  }

  /** Milliseconds until the tokens should be renewed; undefined without any. */
  renewInMs(account: string): number | undefined {
    const issued = this.#tokens.get(account);
    return issued === undefined ? undefined : Math.max(0, issued.renewAt - this.#clock.now());
  }

  /** Asks for new ones. Rejects with ApiError(404) when the ServiceAccount is not there. */
  async request(account: string): Promise<readonly string[]> {
    const asked = this.#clock.now();
    const answers = await Promise.all(Array.from({ length: LANES }, () => this.#requestOne(account, asked)));
    const life = Math.min(...answers.map((answer) => answer.life));
    const tokens = answers.map(({ token }) => token);
    this.#tokens.set(account, { tokens, renewAt: asked + life * RENEW_AFTER, endsAt: asked + life });
    return tokens;
  }

  forget(account: string): void {
    this.#tokens.delete(account);
  }

  async #requestOne(
    account: string,
    asked: number,
  ): Promise<{ readonly token: string; readonly life: number }> {
    const path = `/api/v1/namespaces/${this.#namespace}/serviceaccounts/${account}/token`;
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
    return { token, life: Math.min(LIFETIME_S * 1000, Math.max(0, (ends ?? 0) - asked)) };
  }
}
