/**
 * The proxy that the environment asks for, as kubectl reads it: HTTPS_PROXY or HTTP_PROXY by the server's
 * scheme, unless NO_PROXY lists the host (`*`, a host, `.suffix`, `host:port`). CIDRs are not looked at.
 */
export function proxyFor(
  server: URL,
  variables: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const key = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = variables[key] ?? variables[key.toLowerCase()];
  if (proxy === undefined || proxy === '') return undefined;
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  // Go never uses a proxy for the machine itself.
  if (host === 'localhost' || host.startsWith('127.') || host === '::1') return undefined;
  const exceptions = (variables['NO_PROXY'] ?? variables['no_proxy'] ?? '').split(',');
  const port = server.port === '' ? (server.protocol === 'https:' ? '443' : '80') : server.port;
  if (exceptions.some((entry) => matches(entry.trim().toLowerCase(), host, port))) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*') return true;
  const [, name = entry, onlyPort] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  if (onlyPort !== undefined && onlyPort !== port) return false;
  const suffix = name.startsWith('*.') ? name.slice(1) : name;
  if (suffix.startsWith('.')) return host.endsWith(suffix);
  return host === suffix || host.endsWith(`.${suffix}`);
}
