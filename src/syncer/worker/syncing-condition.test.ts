import { describe, expect, it } from '@jest/globals';
import { expectReason, type ProducedReason } from '../../api/testing/expect-reason.js';
import type { SyncStats } from './resource-sync.js';
import { syncFigures, syncingCondition, type SyncState } from './syncing-condition.js';

const stats: SyncStats = { objects: 2, pending: 0, failing: 0, namespaces: [], drained: false };
const problem = { status: 'False', reason: 'ProviderForbidden', message: '403 for cowboys' } as const;

describe('Syncing', () => {
  it.each<[string, Partial<SyncState>, ProducedReason]>([
    ['before the API is served', { stage: 'prepare', stats: [] }, 'binding/Syncing/Pending'],
    ['before the first API is opened', { stats: [] }, 'binding/Syncing/Pending'],
    [
      'while both sides are listed',
      { stats: [stats, { ...stats, synced: false }] },
      'binding/Syncing/Pending',
    ],
    ['in order', {}, 'binding/Syncing/Syncing'],
    ['paused', { paused: true }, 'binding/Syncing/Paused'],
    ['paused, whatever fails', { paused: true, stats: [{ ...stats, problem }] }, 'binding/Syncing/Paused'],
    ['with failing objects', { stats: [{ ...stats, failing: 1 }] }, 'binding/Syncing/ObjectsFailing'],
    ['draining', { stage: 'drain' }, 'binding/Syncing/Draining'],
    [
      'draining with a problem',
      { stage: 'drain', stats: [{ ...stats, problem }] },
      'binding/Syncing/WaitingForProvider',
    ],
    ['drained', { stage: 'drain', drained: true }, 'binding/Syncing/Released'],
    ['leaving', { stage: 'leave', stats: [] }, 'binding/Syncing/Released'],
  ])('%s', (_name, change, produced) => {
    const condition = syncingCondition({
      stage: 'sync',
      paused: false,
      drained: false,
      stats: [stats],
      ...change,
    });
    expectReason(produced, condition);
    expect(condition.status).toBe(produced === 'binding/Syncing/Syncing' ? 'True' : 'False');
  });

  it.each<[string, Partial<SyncState>]>([
    ['with a problem of one API', { stats: [stats, { ...stats, problem }] }],
    ['with a problem before anything was listed', { stats: [{ ...stats, synced: false, problem }] }],
  ])('shows it %s', (_name, change) => {
    const state: SyncState = { stage: 'sync', paused: false, drained: false, stats: [stats], ...change };
    expect(syncingCondition(state)).toEqual(problem);
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
