import { describe, expect, it } from '@jest/globals';
import type { ResourceSync, SyncPolicy, SyncTarget } from './resource-sync.js';
import { RunningSyncs } from './running-syncs.js';

const policy: SyncPolicy = { conflictPolicy: 'Fail', deletionPolicy: 'Delete', paused: false, force: false };

function target(resource: string, version = 'v1', schema = ''): SyncTarget {
  return {
    gvr: { group: 'g', version, resource },
    kind: 'K',
    scope: 'Namespaced',
    hasStatus: true,
    isolation: 'Prefixed',
    informerScope: 'Namespaced',
    schema,
  };
}

function setUp(): { syncs: RunningSyncs; log: string[]; closing: { finish: () => void } } {
  const log: string[] = [];
  const closing = { finish: (): void => undefined };
  const syncs = new RunningSyncs((opened): ResourceSync => {
    const name = `${opened.gvr.resource}/${opened.gvr.version}`;
    log.push(`open ${name}`);
    return {
      start: () => void log.push(`start ${name}`),
      update: ({ paused }) => void log.push(`update ${name} ${paused ? 'paused' : 'running'}`),
      stats: () => ({ objects: 1, pending: 0, failing: 0, namespaces: [], drained: false }),
      drain: () => void log.push(`drain ${name}`),
      close: () =>
        new Promise((resolve) => {
          closing.finish = () => {
            log.push(`closed ${name}`);
            resolve();
          };
        }),
    };
  });
  return { syncs, log, closing };
}

describe('the APIs of a binding', () => {
  it('are opened once, and hear of a changed policy', async () => {
    const { syncs, log } = setUp();
    await syncs.reconcile([target('a'), target('b')], policy);
    await syncs.reconcile([target('a'), target('b')], { ...policy, paused: true });
    expect(log).toEqual([
      'open a/v1',
      'start a/v1',
      'open b/v1',
      'start b/v1',
      'update a/v1 paused',
      'update b/v1 paused',
    ]);
    expect(syncs.stats()).toHaveLength(2);
  });

  it('are opened again in another version only after the former has stopped', async () => {
    const { syncs, log, closing } = setUp();
    await syncs.reconcile([target('a')], policy);
    const changed = syncs.reconcile([target('a', 'v2')], policy);
    await Promise.resolve();
    expect(log).not.toContain('open a/v2');
    closing.finish();
    await changed;
    expect(log.slice(-3)).toEqual(['closed a/v1', 'open a/v2', 'start a/v2']);
  });

  it('are read anew when a schema changed, as watches go on with the former one', async () => {
    const { syncs, log, closing } = setUp();
    await syncs.reconcile([target('a')], policy);
    const changed = syncs.reconcile([target('a', 'v1', 'next')], policy);
    closing.finish();
    await changed;
    expect(log.slice(-3)).toEqual(['closed a/v1', 'open a/v1', 'start a/v1']);
  });

  it('go on although nobody names them any more', async () => {
    const { syncs, log } = setUp();
    await syncs.reconcile([target('a')], policy);
    await syncs.reconcile([], policy);
    syncs.drain();
    expect(log.at(-1)).toBe('drain a/v1');
  });
});
