import { describe, expect, it } from '@jest/globals';
import type { LogicalCluster, KubeObject, ObjectMeta } from '../../../kube/object.js';
import { ManualClock } from '../../../kube/testing/manual-clock.js';
import { AnswersAhead } from './answers-ahead.js';

const key = { cluster: 'c1' as LogicalCluster, name: 'a' };
const at = (resourceVersion: string, metadata: Partial<ObjectMeta> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'W',
  metadata: { name: 'a', uid: 'u', resourceVersion, ...metadata },
});
const set = (object: KubeObject) => ({ type: 'set', key, object, previous: undefined }) as const;

function open() {
  const clock = new ManualClock();
  const old: string[] = [];
  return { clock, old, ahead: new AnswersAhead(clock, (text) => old.push(text)) };
}
const version = (object: KubeObject | undefined) => object?.metadata.resourceVersion;

describe('an answer', () => {
  it('counts until the watch shows its version', async () => {
    const { ahead } = open();
    await ahead.track(
      'k',
      () => at('1'),
      async () => at('3'),
    );
    ahead.observe('k', set(at('2')));
    expect(version(ahead.current('k', at('2')))).toBe('3');
    ahead.observe('k', set(at('3')));
    ahead.observe('k', set(at('4')));
    expect(version(ahead.current('k', at('4')))).toBe('4');
  });

  it('counts for nothing when the watch was faster', async () => {
    const { ahead } = open();
    await ahead.track(
      'k',
      () => at('4'),
      async () => {
        ahead.observe('k', set(at('3')));
        ahead.observe('k', set(at('4')));
        return at('3');
      },
    );
    expect(version(ahead.current('k', at('4')))).toBe('4');
  });

  it('counts for nothing when the object ended meanwhile', async () => {
    const { ahead } = open();
    await ahead.track(
      'k',
      () => undefined,
      async () => {
        ahead.observe('k', { type: 'missing', key, previous: at('2') });
        return at('3');
      },
    );
    expect(ahead.current('k', undefined)).toBeUndefined();
  });

  it('that takes the last finalizer off a terminating object is its end', async () => {
    const { ahead } = open();
    await ahead.track(
      'k',
      () => at('2'),
      async () => at('2', { deletionTimestamp: 'x', finalizers: [] }),
    );
    expect(ahead.current('k', at('2'))).toBeUndefined();
    expect(version(ahead.current('k', at('9', { uid: 'another' })))).toBe('9');
  });

  it('of a read that found nothing hides what the cache still has, and only that', () => {
    const { ahead } = open();
    ahead.gone('k', at('2'));
    expect(ahead.current('k', at('2'))).toBeUndefined();
    ahead.observe('k', set(at('1', { uid: 'another' })));
    expect(version(ahead.current('k', at('1', { uid: 'another' })))).toBe('1');
  });

  it('that a list has jumped over gives way after ten seconds, and says so', async () => {
    const { ahead, clock, old } = open();
    await ahead.track(
      'k',
      () => at('1'),
      async () => at('3'),
    );
    await clock.advance(9999);
    expect(version(ahead.current('k', at('7')))).toBe('3');
    await clock.advance(1);
    expect(version(ahead.current('k', at('7')))).toBe('7');
    expect(old).toEqual(['k']);
  });

  it('leaves no timer behind', async () => {
    const { ahead, clock } = open();
    await ahead.track(
      'k',
      () => at('1'),
      async () => at('3'),
    );
    ahead.close();
    expect(clock.pending).toBe(0);
  });
});
