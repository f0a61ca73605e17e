import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { jsonEqual } from '../../kube/json.js';
import type { JsonObject } from '../../kube/json-value.js';
import { mergeConditions, type ProviderCondition } from './provider-conditions.js';

const EARLIER = '2026-01-01T00:00:00Z';
const NOW = '2026-02-02T00:00:00Z';
const summary = { summary: true };

function ready(stated: ProviderCondition[]): JsonObject | undefined {
  return mergeConditions([], stated, NOW, summary).find((condition) => condition['type'] === 'Ready');
}

describe('mergeConditions', () => {
  it('keeps what others state, and puts Ready first', () => {
    const foreign = { type: 'Audited', status: 'True', lastTransitionTime: EARLIER, note: 'kept' };
    expect(
      mergeConditions(
        [foreign, { type: 'Zeta', status: 'True' }],
        [{ type: 'Beta', status: 'True' }],
        NOW,
        summary,
      ),
    ).toEqual([
      { type: 'Ready', status: 'True', lastTransitionTime: NOW },
      foreign,
      { type: 'Beta', status: 'True', lastTransitionTime: NOW },
      { type: 'Zeta', status: 'True' },
    ]);
  });

  it.each<[string, Partial<ProviderCondition>, boolean]>([
    ['nothing', {}, false],
    ['the message', { message: 'b' }, true],
    ['the reason', { reason: 'B' }, true],
    ['the severity', { severity: 'Info' }, true],
    ['the status', { status: 'True' }, true],
  ])('moves the transition time when %s changed: %s', (_, change, moves) => {
    const state: ProviderCondition = {
      type: 'A',
      status: 'False',
      severity: 'Error',
      reason: 'A',
      message: 'a',
    };
    const before = { ...state, lastTransitionTime: EARLIER };
    const [after] = mergeConditions([before], [{ ...state, ...change }], NOW, { summary: false });
    expect(after?.['lastTransitionTime']).toBe(moves ? NOW : EARLIER);
  });

  it.each<[string, ProviderCondition[], JsonObject]>([
    [
      'the worst severity counts',
      [
        { type: 'A', status: 'False', severity: 'Info', reason: 'Little' },
        { type: 'B', status: 'False', severity: 'Error', reason: 'Much', message: 'oh' },
        { type: 'C', status: 'Unknown' },
      ],
      { status: 'False', severity: 'Error', reason: 'Much', message: 'oh' },
    ],
    [
      'of equals the first type counts',
      [
        { type: 'B', status: 'False', severity: 'Warning', reason: 'Second' },
        { type: 'A', status: 'False', severity: 'Warning', reason: 'First' },
      ],
      { status: 'False', severity: 'Warning', reason: 'First' },
    ],
    [
      'Unknown beside True counts little',
      [
        { type: 'A', status: 'Unknown' },
        { type: 'B', status: 'True' },
      ],
      { status: 'True' },
    ],
    [
      'Unknown alone is Unknown',
      [{ type: 'A', status: 'Unknown', reason: 'NA' }],
      { status: 'Unknown', reason: 'NA' },
    ],
  ])('in the summary, %s', (_, stated, expected) => {
    expect(ready(stated)).toEqual({ type: 'Ready', lastTransitionTime: NOW, ...expected });
  });

  it('makes no Ready unless it is asked to', () => {
    expect(mergeConditions(null, [{ type: 'A', status: 'True' }], NOW, { summary: false })).toHaveLength(1);
  });

  it.each([undefined, null, 'x', 3, {}, [1, null, { status: 'True' }]])(
    'survives %p in place of conditions',
    (current) => {
      expect(mergeConditions(current, [{ type: 'A', status: 'True' }], NOW, summary)).toHaveLength(2);
    },
  );

  it('changes nothing the second time', () => {
    const state = fc.record<ProviderCondition>(
      {
        type: fc.constantFrom('Ready', 'A', 'B', 'C', '__proto__'),
        status: fc.constantFrom('True', 'False', 'Unknown'),
        severity: fc.constantFrom('Error', 'Warning', 'Info'),
        reason: fc.constantFrom('', 'X', 'Y'),
        message: fc.string(),
      },
      { requiredKeys: ['type', 'status'] },
    );
    fc.assert(
      fc.property(fc.array(state), fc.array(state), fc.boolean(), (foreign, stated, sum) => {
        const current = foreign.map((condition) => ({ ...condition, lastTransitionTime: EARLIER }));
        const own = [...new Map(stated.map((one) => [one.type, one])).values()];
        const once = mergeConditions(current, own, NOW, { summary: sum });
        const twice = mergeConditions(once, own, '2027-01-01T00:00:00Z', { summary: sum });
        // A stated Ready is overwritten by the summary, and moves with it.
        fc.pre(!sum || !own.some((one) => one.type === 'Ready'));
        expect(jsonEqual(twice, once)).toBe(true);
      }),
    );
  });
});
