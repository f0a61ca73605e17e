import type { KubeClient, ListOptions } from '../client.js';
import { ProtocolError } from '../errors.js';
import type { Gvr, KubeObject } from '../object.js';

export interface PageLimits {
  readonly pageSize: number;
  readonly maxPages: number;
}

/**
 * Reads a list page by page.
 *
 * @returns the resourceVersion to watch from: the first page's, since nothing of a later one can be older
 * @throws ApiError(410) when the server has forgotten the list half-way; ProtocolError for a list that does
 * not end or has no resourceVersion; and all that `KubeClient.list` rejects with
 */
export async function listPages(
  client: KubeClient,
  gvr: Gvr,
  { pageSize, maxPages, ...options }: Omit<ListOptions, 'limit' | 'continue'> & PageLimits,
  onPage: (items: readonly KubeObject[]) => void,
): Promise<{ readonly resourceVersion: string; readonly pages: number; readonly items: number }> {
  let token: string | undefined;
  let resourceVersion: string | undefined;
  let items = 0;
  for (let pages = 1; pages <= maxPages; pages += 1) {
    const page = await client.list(gvr, { ...options, limit: pageSize, continue: token });
    resourceVersion ??= page.resourceVersion;
    if (resourceVersion === '') throw new ProtocolError(`the list of ${gvr.resource} has no resourceVersion`);
    items += page.items.length;
    onPage(page.items);
    if (page.continue === undefined || page.continue === '') return { resourceVersion, pages, items };
    if (page.continue === token)
      throw new ProtocolError(`the list of ${gvr.resource} gives the same page again and again`);
    token = page.continue;
  }
  throw new ProtocolError(`the list of ${gvr.resource} has more than ${maxPages} pages of ${pageSize}`);
}
