/** The server's address as browsers see it, maybe through a reverse proxy. Never taken from a request. */
export interface ExternalUrl {
  /** Without a trailing slash. */
  readonly url: string;
  /** `` or `/path`: what a proxy may leave in front of our paths. */
  readonly prefix: string;
  readonly https: boolean;
  readonly origin: string;
}

/** First segments of our own paths: a prefix of that name could not be told from them. */
const OWN = new Set(['login', 'callback', 'healthz', 'readyz', 'metrics']);

/** Takes `--external-url` apart. Throws TypeError naming the flag. */
export function parseExternalUrl(text: string): ExternalUrl {
  const url = new URL(text);
  const prefix = url.pathname.replace(/\/+$/, '');
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new TypeError('--external-url: give http(s)://host[:port][/path], without user, query or fragment');
  }
  if (!/^(\/[\w.~-]+)*$/.test(prefix) || OWN.has(prefix.split('/')[1] ?? '')) {
    throw new TypeError(
      `--external-url: the path ${prefix} cannot be used; use plain letters, and another first segment than ${[...OWN].join(', ')}`,
    );
  }
  return { url: `${url.origin}${prefix}`, prefix, https: url.protocol === 'https:', origin: url.origin };
}

/** The path that routes see: proxies may strip the prefix or leave it. */
export function withoutPrefix(external: ExternalUrl | undefined, path: string): string {
  const prefix = external?.prefix ?? '';
  return prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}
