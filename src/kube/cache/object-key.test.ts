import { describe, expect, it } from '@jest/globals';
import type { LogicalCluster } from '../object.js';
import { clusterOfKey, formatKey, parseKey } from './object-key.js';
import type { ObjectKeyText } from './object-key.js';

const cluster = '2x9kf0q1' as LogicalCluster;

describe('object keys as text', () => {
  it.each([
    [{ cluster, name: 'a.b:c' }, '2x9kf0q1|a.b:c'],
    [{ cluster, namespace: 'ns', name: 'a' }, '2x9kf0q1|ns/a'],
  ])('round-trips %j', (key, text) => {
    expect(formatKey(key)).toBe(text);
    expect(parseKey(formatKey(key))).toEqual(key);
    expect(clusterOfKey(formatKey(key))).toBe(cluster);
  });

  it.each(['', 'a', 'w1|', 'w1|/a', 'w1|a/', 'w1|a/b/c', 'root:org|a'])('refuses %p', (text) => {
    expect(() => parseKey(text as ObjectKeyText)).toThrow(TypeError);
  });
});
