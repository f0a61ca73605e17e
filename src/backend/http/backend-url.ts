import { BackendError } from '../errors.js';

const PROVIDER_PATH = '/api/exports';

/**
 * The base under which all of a backend's paths live: origin, and a path prefix where the backend is published
 * under one; no trailing slash. A URL that already points to `/api/exports` is accepted, as people copy it.
 *
 * @throws BackendError `BACKEND_INVALID_URL`
 */
export function backendBase(url: string): URL {
  let parsed;
  try {
    parsed = new URL(url);
  } catch {
    throw invalid(url, 'it is not a URL');
  }
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    throw invalid(url, 'it does not begin with https:// or http://');
  if (parsed.username !== '' || parsed.password !== '')
    throw invalid(url, 'it contains a user name or password');
  if (parsed.search !== '' || parsed.hash !== '') throw invalid(url, 'it has a query or a fragment');
  let path = parsed.pathname.replace(/\/+$/, '');
  if (path.endsWith(PROVIDER_PATH)) path = path.slice(0, -PROVIDER_PATH.length);
  parsed.pathname = path;
  return parsed;
}

/** URL of one of the backend's paths; `path` starts with a slash, undefined parameters are left out. */
export function backendUrl(
  base: URL,
  path: string,
  query: Readonly<Record<string, string | undefined>> = {},
): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, '')}${path}`;
  for (const [key, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(key, value);
  return url;
}

function invalid(url: string, why: string): BackendError {
  return new BackendError(
    'BACKEND_INVALID_URL',
    `"${url.slice(0, 200)}" cannot be a backend's URL: ${why}. Give its origin, for instance https://bind.example.com`,
  );
}
