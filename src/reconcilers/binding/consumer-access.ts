import { GVR } from '../../api/gvr.js';
import type { KubeClient } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import { ApiError, isStatus } from '../../kube/errors.js';
import type { Gvr } from '../../kube/object.js';
import type { ServedAs } from '../../syncer/protocol/assignment.js';
import { detail } from '../conditions.js';
import type { AccountTokens } from './account-tokens.js';
import type { GeneratedWorkspace } from './generated-workspace.js';
import type { AccessView } from './observation.js';
import type { BindingRef } from './owner.js';

/** How long a shard is taken for another one than the client workspace's. */
const FOREIGN_SHARD_MS = 5 * 60_000;

export interface ConsumerAccessOptions {
  readonly tokens: AccountTokens;
  /** The controller's own way to a virtual workspace's URL: address, authorities, credentials. */
  readonly ownCredentials: (url: string) => ServerCredentials;
  /** The controller's own way to the client workspace: every good token of it is known there. */
  readonly home: ServerCredentials;
  readonly connect: (credentials: ServerCredentials) => KubeClient;
  readonly clock: Pick<Clock, 'now'>;
  /** Runs the TokenRequests under their step's name. */
  readonly requestToken: (ref: BindingRef, account: string) => Promise<readonly string[]>;
}

/**
 * The one place that decides with which credentials a worker reads a virtual workspace. A ServiceAccount is
 * always looked up on the shard that is asked: a token of the client workspace is good on that workspace's
 * shard and answered with 401 on others. There, and nowhere else, the controller's own credentials are handed over, and the
 * separation of bindings from each other is weaker.
 */
export class ConsumerAccessResolver {
  readonly #options: ConsumerAccessOptions;
  readonly #foreign = new Map<string, number>();
  /** What was found to be served, until the APIBinding changes. */
  readonly #served = new Map<string, { readonly signature: string; readonly url: string }>();
  /** Bindings whose worker gets no answer with what it was given. */
  readonly #doubted = new Set<string>();

  constructor(options: ConsumerAccessOptions) {
    this.#options = options;
  }

  /** Shards on which workers use the controller's own credentials, for `/readyz`. */
  get shardsWithOwnCredentials(): readonly string[] {
    return [...this.#foreign.keys()];
  }

  /**
   * Finds the shard that serves the workspace's objects: Bound does not mean served, so every API is asked
   * for one object.
   *
   * @param signature changes whenever the APIBinding does
   */
  async resolve(
    ref: BindingRef,
    account: string,
    target: {
      readonly workspaces: readonly GeneratedWorkspace[];
      readonly apis: readonly ServedAs[];
      readonly schemas: string;
      readonly signature: string;
    },
  ): Promise<AccessView> {
    const key = `${ref.cluster}|${ref.uid}`;
    const known = this.#served.get(key);
    const found =
      known?.signature === target.signature && target.workspaces.some(({ url }) => url === known.url)
        ? known
        : await this.#probe(key, target);
    if ('message' in found) return { kind: 'not-served', message: found.message };
    const { apis, schemas } = target;
    const credentials = await this.#credentials(ref, account, found.url, apis);
    return { kind: 'served', access: { credentials, apis, schemas } };
  }

  /**
   * The worker cannot use what it was given: the next `resolve` asks again, for the token too. Tokens can end before
   * their time: the ServiceAccount was made anew, kcp signs with another key, or our clock was put back.
   */
  doubt(ref: BindingRef): void {
    this.forget(ref);
    this.#doubted.add(`${ref.cluster}|${ref.uid}`);
  }

  forget(ref: BindingRef): void {
    this.#served.delete(`${ref.cluster}|${ref.uid}`);
    this.#doubted.delete(`${ref.cluster}|${ref.uid}`);
  }

  async #probe(
    key: string,
    target: {
      readonly workspaces: readonly GeneratedWorkspace[];
      readonly apis: readonly Gvr[];
      readonly signature: string;
    },
  ): Promise<{ readonly url: string } | { readonly message: string }> {
    let message = 'kcp has not published a URL for it yet';
    for (const { url, client } of target.workspaces) {
      try {
        await Promise.all(target.apis.map((gvr) => client.list(gvr, { limit: 1 })));
      } catch (error) {
        message = detail(error instanceof Error ? error.message : String(error));
        continue;
      }
      this.#served.set(key, { signature: target.signature, url });
      return { url };
    }
    return { message };
  }

  async #credentials(
    ref: BindingRef,
    account: string,
    url: string,
    apis: readonly Gvr[],
  ): Promise<ServerCredentials> {
    const { tokens, clock, ownCredentials } = this.#options;
    const own = ownCredentials(url);
    const place = { ...own, server: `${own.server}/clusters/${ref.cluster}` };
    const { origin } = new URL(own.server);
    const foreignUntil = this.#foreign.get(origin);
    if (foreignUntil !== undefined && clock.now() < foreignUntil) return place;
    const inUse = tokens.current(account);
    if (inUse !== undefined) {
      const given = withTokens(place, inUse);
      const doubted = this.#doubted.delete(`${ref.cluster}|${ref.uid}`);
      if (!doubted || !(await this.#isRefused(given, apis))) return given;
      tokens.forget(account);
    }
    const fresh = await this.#renew(ref, account);
    const credentials = withTokens(place, fresh);
    if (await this.#isForeign(credentials, account, apis)) {
      this.#foreign.set(origin, clock.now() + FOREIGN_SHARD_MS);
      tokens.forget(account);
      return place;
    }
    this.#foreign.delete(origin);
    return credentials;
  }

  /**
   * True where the shard does not know an account that its own shard knows. A fresh token may also be refused for a
   * moment everywhere; that must not hand the controller's own credentials to the workers of a whole shard.
   *
   * @throws ApiError(401) where no shard takes the token
   */
  async #isForeign(credentials: ServerCredentials, account: string, apis: readonly Gvr[]): Promise<boolean> {
    const { home, tokens } = this.#options;
    if (!(await this.#isRefused(credentials, apis))) return false;
    const atHome = withAuth(home, credentials.auth);
    if (await this.#isRefused(atHome, [GVR.apiExports])) {
      tokens.forget(account);
      throw new ApiError({
        message: 'kcp does not accept the new token of this binding’s account',
        status: 401,
        reason: 'Unauthorized',
      });
    }
    return this.#isRefused(credentials, apis);
  }

  async #renew(ref: BindingRef, account: string): Promise<readonly string[]> {
    try {
      return await this.#options.requestToken(ref, account);
    } catch (error) {
      const old = this.#options.tokens.stillGood(account);
      if (old === undefined) throw error;
      return old;
    }
  }

  /** Only 401 says that an account is not known there; rights may need a moment to arrive. */
  async #isRefused(credentials: ServerCredentials, apis: readonly Gvr[]): Promise<boolean> {
    const [gvr] = apis;
    if (gvr === undefined) return false;
    const client = this.#options.connect(credentials);
    try {
      await client.list(gvr, { limit: 1 });
      return false;
    } catch (error) {
      return isStatus(error, 401);
    } finally {
      await client.close();
    }
  }
}

function withTokens(place: ServerCredentials, tokens: readonly string[]): ServerCredentials {
  return withAuth(place, { kind: 'tokens', tokens });
}

function withAuth(place: ServerCredentials, auth: ServerCredentials['auth']): ServerCredentials {
  const { server, ca, tlsServerName, proxyUrl } = place;
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    auth,
  };
}
