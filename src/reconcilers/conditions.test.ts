import { describe, expect, it } from '@jest/globals';
import { mergeConditions, no, timestamp, yes } from './conditions.js';

const NOW = Date.parse('2026-06-01T12:00:00.750Z');
const EARLIER = '2026-06-01T11:00:00Z';
const at = { now: NOW, generation: 3 };

describe('conditions', () => {
  it('keep their transition time while the status stays, whatever the reason', () => {
    const previous = [{ type: 'A', status: 'False', reason: 'X', message: '', lastTransitionTime: EARLIER }];
    expect(mergeConditions(previous, [['A', no('Y', 'because')]], at)).toEqual([
      {
        type: 'A',
        status: 'False',
        reason: 'Y',
        message: 'because',
        lastTransitionTime: EARLIER,
        observedGeneration: 3,
      },
    ]);
  });

  it('get a new transition time when the status changes', () => {
    const previous = [{ type: 'A', status: 'False', reason: 'X', message: '', lastTransitionTime: EARLIER }];
    const [condition] = mergeConditions(previous, [['A', yes('X')]], at);
    expect(condition?.lastTransitionTime).toBe('2026-06-01T12:00:00Z');
  });

  it('are the same list again for the same statement', () => {
    const once = mergeConditions(
      undefined,
      [
        ['A', yes('X')],
        ['B', no('Y', 'm')],
      ],
      at,
    );
    expect(
      mergeConditions(
        once,
        [
          ['A', yes('X')],
          ['B', no('Y', 'm')],
        ],
        { ...at, now: NOW + 5_000 },
      ),
    ).toEqual(once);
  });

  it.each<[string, unknown]>([
    ['no list', { A: 1 }],
    ['junk', [null, 7, 'x', { type: 'A' }, { type: 'A', status: 'True', lastTransitionTime: 'never' }]],
  ])('take nothing over from %s', (_title, previous) => {
    const [condition] = mergeConditions(previous, [['A', yes('X')]], at);
    expect(condition?.lastTransitionTime).toBe(timestamp(NOW));
  });

  it('drop types that nobody states any more, and bound every message', () => {
    const previous = [{ type: 'Old', status: 'True', reason: 'X', message: '', lastTransitionTime: EARLIER }];
    const merged = mergeConditions(previous, [['A', no('X', 'm'.repeat(50_000))]], at);
    expect(merged.map(({ type }) => type)).toEqual(['A']);
    expect(merged[0]?.message).toHaveLength(8192);
  });
});
