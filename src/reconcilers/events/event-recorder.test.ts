import { describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import { ManualClock, settle } from '../../kube/testing/manual-clock.js';
import type { LogicalCluster } from '../../kube/object.js';
import { silentMetrics } from '../metrics.js';
import { fakeWorkspace } from '../testing/fake-client.js';
import { FakeObjects } from '../testing/fake-objects.js';
import { textAt } from '../views.js';
import { createEventRecorder } from './event-recorder.js';

const CLUSTER = 'workspace1' as LogicalCluster;
const TARGET = { apiVersion: 'example.test/v1', kind: 'Widget', namespace: 'ns', name: 'w', uid: 'u' };
const EVENT = { type: 'Warning', reason: 'Contested', message: 'somebody else writes it' } as const;

function setUp() {
  const objects = new FakeObjects();
  const clock = new ManualClock();
  const dropped: string[] = [];
  let allowed = true;
  const start = () =>
    createEventRecorder({
      workspace: (cluster) =>
        fakeWorkspace(objects, cluster, { admit: () => undefined, gate: (write) => write() }),
      isAllowed: () => allowed,
      clock,
      metrics: { ...silentMetrics(), eventDropped: (why) => dropped.push(why) },
      instance: 'test',
    });
  const written = () => objects.list(GVR.events, CLUSTER);
  const later = async (ms: number): Promise<void> => {
    await clock.advance(ms);
    for (let i = 0; i < 5; i++) await settle();
  };
  return {
    start,
    clock,
    objects,
    dropped,
    written,
    later,
    setAllowed: (value: boolean) => (allowed = value),
  };
}

describe('events', () => {
  it('name the object by its UID and stand in its namespace', async () => {
    const { start, written, later } = setUp();
    const recorder = start();
    recorder.record(CLUSTER, TARGET, EVENT);
    await later(0);
    expect(written()[0]).toMatchObject({
      metadata: { namespace: 'ns' },
      involvedObject: { uid: 'u', namespace: 'ns' },
      reason: 'Contested',
      count: 1,
    });
    await recorder.close();
  });

  it('stand in default for objects without a namespace', async () => {
    const { start, written, later } = setUp();
    const recorder = start();
    const target = { apiVersion: 'v1', kind: 'KubeBindBinding', name: 'b', uid: 'b-uid' };
    recorder.record(CLUSTER, target, EVENT);
    await later(0);
    expect(written()[0]?.metadata.namespace).toBe('default');
    await recorder.close();
  });

  it('that repeat are one with a count, written at most once a minute', async () => {
    const { start, written, later, objects } = setUp();
    let writes = 0;
    objects.onChange(() => writes++);
    const recorder = start();
    for (let i = 0; i < 100; i++) recorder.record(CLUSTER, TARGET, EVENT);
    await later(61_000);
    recorder.record(CLUSTER, TARGET, EVENT);
    await later(0);
    expect(written()).toHaveLength(1);
    expect(written()[0]?.['count']).toBe(101);
    expect(writes).toBe(2);
    await recorder.close();
  });

  it('are counted on after a restart', async () => {
    const { start, written, later } = setUp();
    for (let i = 0; i < 2; i++) {
      const recorder = start();
      recorder.record(CLUSTER, TARGET, EVENT);
      await later(0);
      await recorder.close();
    }
    expect(written()).toHaveLength(1);
    expect(written()[0]?.['count']).toBe(2);
  });

  it('are made anew when kcp has forgotten them', async () => {
    const { start, written, later, objects } = setUp();
    const recorder = start();
    recorder.record(CLUSTER, TARGET, EVENT);
    await later(61_000);
    const name = written()[0]?.metadata.name ?? '';
    objects.delete(GVR.events, CLUSTER, name, { namespace: 'ns' });
    recorder.record(CLUSTER, TARGET, EVENT);
    await later(0);
    expect(written()[0]).toMatchObject({ count: 1 });
    await recorder.close();
  });

  it('are dropped, and counted, without the claim and beyond what one workspace may have', async () => {
    const { start, written, later, dropped, setAllowed } = setUp();
    const recorder = start();
    setAllowed(false);
    recorder.record(CLUSTER, TARGET, EVENT);
    setAllowed(true);
    for (let i = 0; i < 40; i++)
      recorder.record(CLUSTER, { ...TARGET, uid: `u${i}` }, { ...EVENT, message: `m${i}` });
    await later(0);
    expect(dropped.filter((why) => why === 'claim')).toHaveLength(1);
    expect(dropped.filter((why) => why === 'limit')).toHaveLength(15);
    expect(written()).toHaveLength(25);
    await recorder.close();
  });

  it('hold only text that is fit for people', async () => {
    const { start, written, later } = setUp();
    const recorder = start();
    recorder.record(CLUSTER, TARGET, { ...EVENT, message: `a\n\u202eb${'x'.repeat(5_000)}` });
    await later(0);
    const message = textAt(written()[0], 'message');
    expect(message).toMatch(/^a bx+…$/);
    expect(message).toHaveLength(1024);
    await recorder.close();
  });
});
