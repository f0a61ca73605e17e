import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import type { BindingReport } from '../protocol/report.js';
import { Reporter } from './reporter.js';

function report(change: Partial<BindingReport> = {}): BindingReport {
  return {
    key: 'a',
    revision: 1,
    conditions: {},
    sync: { objects: 0, pending: 0, failing: 0 },
    drained: false,
    left: false,
    remaining: [],
    namespaces: [],
    ...change,
  };
}

function objects(count: number, lastSyncTime?: string): Partial<BindingReport> {
  return { sync: { objects: count, pending: 0, failing: 0, ...(lastSyncTime && { lastSyncTime }) } };
}

function setUp(): { clock: ManualClock; reporter: Reporter; sent: BindingReport[] } {
  const clock = new ManualClock();
  const sent: BindingReport[] = [];
  const reporter = new Reporter({ clock, intervalMs: 1000, send: (each) => sent.push(each) });
  return { clock, reporter, sent };
}

describe('reports', () => {
  it('go out at once when nothing was sent yet', () => {
    const { reporter, sent } = setUp();
    reporter.publish(report());
    expect(sent).toHaveLength(1);
  });

  it('go out at most once in the interval, with the newest content', async () => {
    const { clock, reporter, sent } = setUp();
    for (let i = 0; i < 50; i += 1) {
      reporter.publish(report(objects(i)));
      await clock.advance(100);
    }
    await clock.advance(1000);
    expect(sent.length).toBeLessThanOrEqual(6);
    expect(sent.at(-1)?.sync.objects).toBe(49);
  });

  it('are not repeated when nothing changed but the time of the last sync', async () => {
    const { clock, reporter, sent } = setUp();
    reporter.publish(report(objects(1, '2026-11-30T12:00:00Z')));
    await clock.advance(5000);
    reporter.publish(report(objects(1, '2026-11-30T12:00:05Z')));
    await clock.advance(5000);
    expect(sent).toHaveLength(1);
  });

  it('are not sent when a change was taken back within the interval', async () => {
    const { clock, reporter, sent } = setUp();
    reporter.publish(report(objects(1)));
    reporter.publish(report(objects(2)));
    reporter.publish(report(objects(1)));
    await clock.advance(5000);
    expect(sent).toHaveLength(1);
  });

  it('about a new revision go out at once', () => {
    const { reporter, sent } = setUp();
    reporter.publish(report());
    reporter.publish(report({ revision: 2 }));
    expect(sent).toHaveLength(2);
  });

  it('stop when closed', async () => {
    const { clock, reporter, sent } = setUp();
    reporter.publish(report());
    reporter.publish(report(objects(2)));
    reporter.close();
    await clock.advance(5000);
    expect(sent).toHaveLength(1);
    expect(clock.pending).toBe(0);
  });
});
