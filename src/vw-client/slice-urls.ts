import { isJsonObject } from '../kube/json-value.js';
import type { KubeObject } from '../kube/object.js';

/** More shards than any installation has; what is beyond is left out. */
const MAX_URLS = 256;

/**
 * URLs of an APIExport's virtual workspace, one for each shard with a binding, as its
 * APIExportEndpointSlice lists them: absolute http(s), without a trailing slash, each once. What is not a
 * usable URL is left out.
 */
export function urlsOfSlice(slice: KubeObject, urlMap: (url: string) => string = (url) => url): string[] {
  const status = slice['status'];
  const endpoints = isJsonObject(status) ? status['endpoints'] : undefined;
  const urls = new Set<string>();
  for (const endpoint of Array.isArray(endpoints) ? endpoints : []) {
    const listed = isJsonObject(endpoint) ? endpoint['url'] : undefined;
    const url = typeof listed === 'string' ? usableUrl(urlMap(listed)) : undefined;
    if (url !== undefined && urls.size < MAX_URLS) urls.add(url);
  }
  return [...urls];
}

function usableUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, username, password, search, hash, href } = new URL(text);
  const plain = username === '' && password === '' && search === '' && hash === '';
  if (!plain || (protocol !== 'https:' && protocol !== 'http:')) return undefined;
  return href.endsWith('/') ? href.slice(0, -1) : href;
}
