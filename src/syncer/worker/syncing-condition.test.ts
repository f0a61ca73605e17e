import { describe, expect, it } from '@jest/globals';
import type { SyncStats } from './resource-sync.js';
import { syncFigures, syncingCondition, type SyncState } from './syncing-condition.js';

const stats: SyncStats = { objects: 2, pending: 0, failing: 0, namespaces: [], drained: false };
const problem = { status: 'False', reason: 'ProviderForbidden', message: '403 for cowboys' } as const;

describe('Syncing', () => {
  it.each<[string, Partial<SyncState>, string]>([
    ['before the API is served', { stage: 'prepare', stats: [] }, 'Pending'],
    ['before the first API is opened', { stats: [] }, 'Pending'],
    ['while both sides are listed', { stats: [stats, { ...stats, synced: false }] }, 'Pending'],
    ['in order', {}, 'Syncing'],
    ['paused', { paused: true }, 'Paused'],
    ['paused, whatever fails', { paused: true, stats: [{ ...stats, problem }] }, 'Paused'],
    ['with a problem of one API', { stats: [stats, { ...stats, problem }] }, 'ProviderForbidden'],
    [
      'with a problem before anything was listed',
      { stats: [{ ...stats, synced: false, problem }] },
      'ProviderForbidden',
    ],
    ['with failing objects', { stats: [{ ...stats, failing: 1 }] }, 'ObjectsFailing'],
    ['draining', { stage: 'drain' }, 'Draining'],
    ['draining with a problem', { stage: 'drain', stats: [{ ...stats, problem }] }, 'WaitingForProvider'],
    ['drained', { stage: 'drain', drained: true }, 'Released'],
    ['leaving', { stage: 'leave', stats: [] }, 'Released'],
  ])('%s', (_name, change, reason) => {
    const condition = syncingCondition({
      stage: 'sync',
      paused: false,
      drained: false,
      stats: [stats],
      ...change,
    });
    expect(condition.reason).toBe(reason);
    expect(condition.status).toBe(reason === 'Syncing' ? 'True' : 'False');
  });

  it('says what holds up the release', () => {
    const state = { stage: 'drain', paused: false, drained: false, stats: [{ ...stats, problem }] } as const;
    expect(syncingCondition(state).message).toBe('Not let go yet: 2 objects. 403 for cowboys');
  });
});

describe('figures', () => {
  it('are those of all APIs, with the latest time', () => {
    const early = { ...stats, failing: 1, lastSyncAt: Date.UTC(2026, 10, 30, 12) };
    const late = { ...stats, pending: 2, lastSyncAt: Date.UTC(2026, 10, 30, 13) + 999 };
    expect(syncFigures([early, late])).toEqual({
      objects: 4,
      pending: 2,
      failing: 1,
      lastSyncTime: '2026-11-30T13:00:00Z',
    });
  });

  it('have no time before the first sync', () => {
    expect(syncFigures([])).toEqual({ objects: 0, pending: 0, failing: 0 });
  });
});
