import type { FaultProxy, ProxiedRequest, Rule } from './fault-proxy.js';

/** A request that came to a proxy. */
export interface LoggedRequest extends ProxiedRequest {
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Remembers every request that comes to a proxy, and lets a rule decide what becomes of it. */
export class RequestLog {
  readonly #requests: LoggedRequest[] = [];

  /** Takes the proxy's rule; a test that wants one of its own gives it here. */
  constructor(proxy: FaultProxy, rule: Rule = () => 'pass') {
    proxy.setRule((request) => {
      this.#requests.push({ ...request, at: Date.now() });
      return rule(request);
    });
  }

  /** Those since a moment that match, in order. */
  since(at: number, match: (request: LoggedRequest) => boolean = () => true): LoggedRequest[] {
    return this.#requests.filter((request) => request.at >= at && match(request));
  }
}

export function isWatch({ path }: ProxiedRequest): boolean {
  return /[?&]watch=(true|1)/.test(path);
}

/** A list of a resource by its plural name, in a namespace or in all; a GET of one object is none. */
export function isListOf(resource: string): (request: ProxiedRequest) => boolean {
  const collection = new RegExp(`/(api|apis/[^/]+)/[^/]+(/namespaces/[^/]+)?/${resource}(\\?|$)`);
  return (request) => request.method === 'GET' && !isWatch(request) && collection.test(request.path);
}
