import { describe, expect, it } from '@jest/globals';
import type { KubeClient, ListOptions } from '../client.js';
import { AnswerTooLargeError, ProtocolError } from '../errors.js';
import type { KubeObject } from '../object.js';
import { listPages } from './list-pages.js';

const GVR = { group: 'test', version: 'v1', resource: 'things' };

/** A server with objects of these sizes whose answers may not be larger than `budget`. */
function server(sizes: readonly number[], budget: number) {
  const limits: number[] = [];
  const list = async (_gvr: unknown, { limit = 0, continue: token = '0' }: ListOptions = {}) => {
    limits.push(limit);
    const start = Number(token);
    const end = Math.min(sizes.length, start + limit);
    const size = sizes.slice(start, end).reduce((sum, one) => sum + one, 0);
    if (size > budget) throw new AnswerTooLargeError(`larger than ${String(budget)}`);
    const items = sizes.slice(start, end).map((_, index): KubeObject => {
      const name = `thing-${String(start + index)}`;
      return { apiVersion: 'test/v1', kind: 'Thing', metadata: { name } };
    });
    const more = end < sizes.length ? { continue: String(end) } : {};
    return { items, resourceVersion: `at-${token}`, ...more };
  };
  // Only `list` is asked.
  return { client: { list } as unknown as KubeClient, limits };
}

async function namesFrom(
  sizes: readonly number[],
  budget: number,
  options = { pageSize: 8, maxPages: 100 },
): Promise<{ names: string[]; limits: number[]; resourceVersion: string }> {
  const { client, limits } = server(sizes, budget);
  const names: string[] = [];
  const { resourceVersion } = await listPages(client, GVR, options, (items) =>
    names.push(...items.map(({ metadata }) => metadata.name)),
  );
  return { names, limits, resourceVersion };
}

const all = (count: number) => Array.from({ length: count }, (_, index) => `thing-${String(index)}`);

describe('listPages', () => {
  it('asks for full pages where they fit', async () => {
    const { names, limits, resourceVersion } = await namesFrom(Array<number>(20).fill(1), 100);
    expect(names).toEqual(all(20));
    expect(limits).toEqual([8, 8, 8]);
    expect(resourceVersion).toBe('at-0');
  });

  it('gets past objects of which a full page is more than an answer may be', async () => {
    const sizes = [...Array<number>(10).fill(1), ...Array<number>(10).fill(90), ...Array<number>(10).fill(1)];
    const { names, limits } = await namesFrom(sizes, 100);
    expect(names).toEqual(all(30));
    expect(Math.min(...limits)).toBe(1);
    expect(limits.at(-1)).toBeGreaterThan(1);
    expect(limits.length).toBeLessThan(60);
  });

  it('rejects where one object alone is too large', async () => {
    await expect(namesFrom([1, 200, 1], 100)).rejects.toThrow(AnswerTooLargeError);
  });

  it('counts small pages by what they were asked for, and still ends', async () => {
    const few = { pageSize: 8, maxPages: 3 };
    expect((await namesFrom(Array<number>(12).fill(90), 100, few)).names).toEqual(all(12));
    await expect(namesFrom(Array<number>(25).fill(1), 100, few)).rejects.toThrow(ProtocolError);
    await expect(namesFrom(Array<number>(40).fill(90), 100, few)).rejects.toThrow(ProtocolError);
  });
});
