import type { Gvr } from '../api/gvr.js';
import { ProtocolError } from './errors.js';

/** Where a request goes below the base path. */
export interface ResourcePath {
  readonly namespace?: string | undefined;
  /** Absent: the collection. */
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** Query parameters; undefined ones are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * `/api/v1/...` for the core group, `/apis/<group>/<version>/...` for all others.
 *
 * @throws ProtocolError for a part that is empty, is `.` or `..`, or holds `/` or `%`, which would name another resource
 */
export function resourcePath(gvr: Gvr, target: ResourcePath = {}): string {
  const root = gvr.group === '' ? '/api' : `/apis/${segment(gvr.group, 'group')}`;
  let path = `${root}/${segment(gvr.version, 'version')}`;
  if (target.namespace !== undefined) path += `/namespaces/${segment(target.namespace, 'namespace')}`;
  path += `/${segment(gvr.resource, 'resource')}`;
  if (target.name !== undefined) path += `/${segment(target.name, 'name')}`;
  if (target.subresource !== undefined) path += `/${segment(target.subresource, 'subresource')}`;
  return path;
}

/** `path?a=b`, values encoded; `path` alone when no parameter is set. */
export function withQuery(path: string, query: Query): string {
  const pairs: string[] = [];
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) pairs.push(`${encodeURIComponent(key)}=${encodeURIComponent(String(value))}`);
  }
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/**
 * Checks a path that is joined verbatim to a server's URL, such as `/clusters/root:a:b` or
 * `/services/apiexport/x/y/clusters/*`. Takes one trailing slash off; `/` becomes the empty string.
 */
export function basePath(path: string): string {
  if (path === '' || path === '/') return '';
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path;
  checkRawPath(trimmed);
  if (trimmed.includes('?'))
    throw new ProtocolError(`base path ${JSON.stringify(path)} may not have a query`);
  return trimmed;
}

/** Checks a path, query allowed, that goes to the server as it is. */
export function checkRawPath(path: string): void {
  if (!/^\/[!-~]*$/.test(path) || path.includes('#') || path.includes('\\'))
    throw new ProtocolError(
      `path ${JSON.stringify(path)} must start with / and hold only printable ASCII without # and \\`,
    );
  const segments = (path.split('?', 1)[0] ?? '').split('/').slice(1);
  if (segments.some((part) => isDots(part)))
    throw new ProtocolError(`path ${JSON.stringify(path)} may not hold . or .. as a segment`);
}

function segment(value: string, what: string): string {
  // No name on an API server holds a slash or a percent sign, and not all servers keep an encoded one apart from a real one.
  if (value === '' || isDots(value) || /[/%]/.test(value))
    throw new ProtocolError(`${what} ${JSON.stringify(value)} cannot be part of a path`);
  // A colon is common in RBAC names and in kcp's, and legal in a path: kept readable in logs.
  return encodeURIComponent(value).replaceAll('%3A', ':');
}

function isDots(part: string): boolean {
  return /^(\.|%2e){1,2}$/i.test(part);
}
