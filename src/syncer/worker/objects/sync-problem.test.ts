import { describe, expect, it } from '@jest/globals';
import { expectReason, type ProducedReason } from '../../../api/testing/expect-reason.js';
import type { Trouble } from './object-failure.js';
import type { GateProblem } from './side-gate.js';
import { syncProblem } from './sync-problem.js';

/** Records of one API in which objects have this trouble. */
function records(trouble?: Trouble, change: { readonly notice?: boolean; readonly failing?: number } = {}) {
  const { notice = false, failing = 1 } = change;
  return {
    exampleTrouble: () => trouble && { trouble, notice },
    figures: () => ({ pending: 0, failing }),
  };
}

const closed = (reason: GateProblem['reason']): GateProblem => ({ reason, message: '403 for cowboys' });

describe('what the troubles of one API amount to', () => {
  it.each<[GateProblem['reason'], ProducedReason, RegExp]>([
    ['forbidden', 'binding/Syncing/ProviderForbidden', /Ask the provider to restore/],
    ['unauthorized', 'binding/Syncing/ProviderForbidden', /Log in again/],
    ['notServed', 'binding/Syncing/ProviderUnreachable', /does not serve the API.*tried again/],
    ['unreachable', 'binding/Syncing/ProviderUnreachable', /does not answer.*Nothing is deleted/],
  ])('is the provider that is %s', (reason, produced, says) => {
    const state = syncProblem(undefined, closed(reason), records());
    expectReason(produced, state);
    expect(state?.status).toBe('False');
    expect(state?.message).toContain('403 for cowboys');
    expect(state?.message).toMatch(says);
  });

  it('is a namespace that the provider’s API may not have, where the isolation puts copies into one', () => {
    const rule = { scope: 'Cluster', isolation: 'Namespaced' } as const;
    const said = (reason: GateProblem['reason'], where: Parameters<typeof syncProblem>[3]) =>
      syncProblem(undefined, closed(reason), records(), where)?.message;
    expect(said('notServed', rule)).toMatch(
      /cluster-scoped on the provider, ask for it with another isolation/,
    );
    expect(said('unreachable', rule)).not.toMatch(/isolation/);
    expect(said('notServed', { ...rule, scope: 'Namespaced' })).not.toMatch(/isolation/);
  });

  it('is the workspace that cannot be read', () => {
    const state = syncProblem(closed('unreachable'), undefined, records());
    expectReason('binding/Syncing/ConsumerUnreachable', state);
    expect(state?.message).toMatch(/403 for cowboys.*Nothing is deleted/);
  });

  it.each<[Trouble['reason'], ProducedReason]>([
    ['Conflict', 'binding/Syncing/Conflict'],
    ['Contested', 'binding/Syncing/Contested'],
    ['Pruned', 'binding/Syncing/Pruned'],
    ['Mutated', 'binding/Syncing/Mutated'],
    ['ProviderRefused', 'binding/Syncing/ObjectsFailing'],
    ['ProviderForbidden', 'binding/Syncing/ObjectsFailing'],
    ['ProviderNamespaceMissing', 'binding/Syncing/ObjectsFailing'],
    ['WorkspaceRefused', 'binding/Syncing/ObjectsFailing'],
    ['WorkspaceForbidden', 'binding/Syncing/ObjectsFailing'],
  ])('is objects with %s, with one of them as example', (reason, produced) => {
    const trouble = { reason, message: 'default/a: no' };
    const one = syncProblem(undefined, undefined, records(trouble));
    expectReason(produced, one);
    expect(one?.message).toBe('1 object cannot be synced, for example: default/a: no');
    expect(syncProblem(undefined, undefined, records(trouble, { failing: 3 }))?.message).toMatch(
      /^3 objects/,
    );
  });

  it('is a notice in its own words where nothing fails', () => {
    const trouble = { reason: 'Pruned', message: 'default/a: spec.extra is dropped' } as const;
    const state = syncProblem(undefined, undefined, records(trouble, { notice: true, failing: 0 }));
    expectReason('binding/Syncing/Pruned', state);
    expect(state?.message).toBe(trouble.message);
  });

  it('is the server before the objects, and the provider before the workspace', () => {
    const trouble = { reason: 'Conflict', message: 'm' } as const;
    const consumer = closed('unreachable');
    expect(syncProblem(consumer, undefined, records(trouble))?.reason).toBe('ConsumerUnreachable');
    expect(syncProblem(consumer, closed('forbidden'), records(trouble))?.reason).toBe('ProviderForbidden');
  });

  it('is nothing where there are none', () => {
    expect(syncProblem(undefined, undefined, records())).toBeUndefined();
  });
});
