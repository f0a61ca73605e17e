import type { KubeClient, ListOptions } from '../client.js';
import { AnswerTooLargeError, ProtocolError } from '../errors.js';
import type { Gvr, KubeObject, ObjectList } from '../object.js';

export interface PageLimits {
  readonly pageSize: number;
  readonly maxPages: number;
}

/** After a page that was too large; pages grow again by two. */
const SHRINK = 4;
/** So many requests for each page of the usual size: whoever has large objects does not make a list endless. */
const REQUESTS_PER_PAGE = 10;

/**
 * Reads a list page by page. Where a page is larger than an answer may be it is asked for in smaller ones: a few
 * large objects, of one tenant perhaps, must not hide all others.
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
  let [items, pages, room, limit] = [0, 0, pageSize * maxPages, pageSize];
  for (let requests = 0; room > 0 && requests < maxPages * REQUESTS_PER_PAGE; requests += 1) {
    const page = await fittingPage(() => client.list(gvr, { ...options, limit, continue: token }), limit);
    if (page === undefined) {
      limit = Math.max(1, Math.floor(limit / SHRINK));
      continue;
    }
    resourceVersion ??= page.resourceVersion;
    if (resourceVersion === '') throw new ProtocolError(`the list of ${gvr.resource} has no resourceVersion`);
    items += page.items.length;
    pages += 1;
    onPage(page.items);
    if (page.continue === undefined || page.continue === '') return { resourceVersion, pages, items };
    if (page.continue === token)
      throw new ProtocolError(`the list of ${gvr.resource} gives the same page again and again`);
    token = page.continue;
    room -= limit;
    limit = Math.min(pageSize, limit * 2);
  }
  throw new ProtocolError(`the list of ${gvr.resource} has more than ${maxPages} pages of ${pageSize}`);
}

/** Undefined where the page is too large and a smaller one can be asked for. */
async function fittingPage(list: () => Promise<ObjectList>, limit: number): Promise<ObjectList | undefined> {
  try {
    return await list();
  } catch (error) {
    if (limit > 1 && error instanceof AnswerTooLargeError) return undefined;
    throw error;
  }
}
