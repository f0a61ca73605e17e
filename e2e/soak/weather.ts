import type { FaultProxy, ProxiedRequest, Verdict } from '../harness/fault-proxy.js';
import { pause } from './pause.js';
import type { Chance } from './random.js';

/** What can happen between the controller and a server. */
export type FaultKind =
  | 'delay'
  | 'reset'
  | 'black hole'
  | 'status answer'
  | 'stream cut'
  | 'lost answer'
  | 'half-open streams'
  | 'empty list';

const KINDS: readonly [FaultKind, ...FaultKind[]] = [
  'delay',
  'reset',
  'black hole',
  'status answer',
  'stream cut',
  'lost answer',
  'half-open streams',
  'empty list',
];
const AWAY: readonly [number, ...number[]] = [429, 500, 502, 503, 504];
const STATUSES: readonly [number, ...number[]] = [403, 404, ...AWAY];
/** What a controller asks first of all: where that is refused it ends, and says what an admin has to mend. */
const ASKED_AT_START = /\/apiexports\/[^/?]+(\?|$)/;
/** Lists that look empty: the objects on both sides, and what users ask of us. */
const LISTED = /\/(databases|kubebindbindings|kubebindconnections)(\?|$)/;

/** Makes faults on some proxies, one after another, and counts them. */
export class Weather {
  /** Faults, and the requests and streams that they hit. */
  readonly counts = new Map<FaultKind, { faults: number; hits: number }>(
    KINDS.map((kind) => [kind, { faults: 0, hits: 0 }]),
  );
  readonly #proxies: readonly [FaultProxy, ...FaultProxy[]];
  readonly #chance: Chance;

  constructor(proxies: readonly [FaultProxy, ...FaultProxy[]], chance: Chance) {
    this.#proxies = proxies;
    this.#chance = chance;
  }

  /** Until the signal; leaves the proxies open. */
  async blow(signal: AbortSignal): Promise<void> {
    const chance = this.#chance;
    while (!signal.aborted) {
      await pause(chance.whole(200, 2000), signal);
      const proxy = chance.of(this.#proxies);
      const kind = chance.of(KINDS);
      this.#count(kind).faults += 1;
      this.#begin(proxy, kind);
      await pause(chance.whole(200, 3000), signal);
      proxy.setRule(() => 'pass');
      // What was held for ever is broken off, as a network that comes back would.
      if (kind === 'black hole') proxy.cutAll();
    }
  }

  #begin(proxy: FaultProxy, kind: FaultKind): void {
    const share = 0.3 + 0.7 * this.#chance();
    const hit = (): boolean => {
      const hits = this.#chance() < share;
      if (hits) this.#count(kind).hits += 1;
      return hits;
    };
    if (kind === 'stream cut') proxy.cut(hit);
    if (kind === 'half-open streams' || kind === 'black hole') proxy.freeze(hit);
    if (kind === 'empty list') proxy.cut(({ path }) => LISTED.test(path));
    proxy.setRule(async (request) => {
      const verdict = this.#verdict(kind, request);
      if (verdict === 'pass' || !hit()) return 'pass';
      if (kind === 'delay') await pause(this.#chance.whole(100, 3000));
      return verdict === 'late' ? 'pass' : verdict;
    });
  }

  #verdict(kind: FaultKind, request: ProxiedRequest): Verdict | 'late' {
    switch (kind) {
      case 'delay':
        return 'late';
      case 'reset':
        return 'drop';
      case 'black hole':
        return 'hold';
      case 'status answer':
        return status(this.#chance.of(ASKED_AT_START.test(request.path) ? AWAY : STATUSES));
      case 'stream cut':
        return { cutAfter: this.#chance.whole(0, 2000) };
      case 'lost answer':
        // The end of a watch's answer does not come.
        return isWatch(request) ? 'pass' : 'swallow';
      case 'half-open streams':
        return 'pass';
      case 'empty list':
        return emptied(request);
    }
  }

  #count(kind: FaultKind): { faults: number; hits: number } {
    return this.counts.get(kind) ?? { faults: 0, hits: 0 };
  }
}

function isWatch({ path }: ProxiedRequest): boolean {
  return /[?&]watch=(true|1)/.test(path);
}

function emptied(request: ProxiedRequest): Verdict {
  if (request.method !== 'GET' || !LISTED.test(request.path)) return 'pass';
  if (isWatch(request)) return status(410);
  return {
    status: 200,
    body: { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '1' }, items: [] },
  };
}

/** Names no object, so that a 404 is none about an object. */
function status(code: number): Verdict {
  return {
    status: code,
    body: {
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      code,
      message: `made up by the test: ${code}`,
    },
  };
}
