import { describe, expect, it } from '@jest/globals';
import { guardedJsonPatch, guardedMergePatch } from './patch-guard.js';

const guard = { uid: 'u1', resourceVersion: 'rv-1' };

describe('guardedMergePatch', () => {
  it('puts uid and resourceVersion into the metadata, stronger than what is there', () => {
    const patch = { metadata: { labels: { a: null }, uid: 'forged' }, spec: { x: 1 } };
    expect(guardedMergePatch(guard, patch)).toEqual({
      metadata: { labels: { a: null }, uid: 'u1', resourceVersion: 'rv-1' },
      spec: { x: 1 },
    });
    expect(patch.metadata.uid).toBe('forged');
  });

  it('guards by uid alone where no version is given', () => {
    expect(guardedMergePatch({ uid: 'u1' }, {})).toEqual({ metadata: { uid: 'u1' } });
  });

  it.each([[null], [[]], ['x'], [{ metadata: null }], [{ metadata: [] }]])('refuses %j', (patch) => {
    expect(() => guardedMergePatch(guard, patch)).toThrow(TypeError);
  });
});

describe('guardedJsonPatch', () => {
  it('leads with tests of uid and resourceVersion', () => {
    const remove = { op: 'remove', path: '/metadata/finalizers/0' };
    expect(guardedJsonPatch(guard, [remove])).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u1' },
      { op: 'test', path: '/metadata/resourceVersion', value: 'rv-1' },
      remove,
    ]);
    expect(guardedJsonPatch({ uid: 'u1' }, [remove])).toHaveLength(2);
  });
});
