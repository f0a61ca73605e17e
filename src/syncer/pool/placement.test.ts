import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arrange, type PlacedBinding, type Standing } from './placement.js';

function binding(
  key: string,
  worker: number | undefined,
  more: { cluster?: string; server?: string; standing?: Standing } = {},
): PlacedBinding {
  return {
    key,
    worker,
    cluster: more.cluster ?? `cluster of ${key}`,
    server: more.server ?? `server of ${key}`,
    standing: more.standing ?? 'good',
  };
}

function arranged(bindings: readonly PlacedBinding[], maxWorkers: number): Record<string, number> {
  return Object.fromEntries(arrange(bindings, maxWorkers, 100));
}

describe('placement', () => {
  it('gives each binding a worker of its own up to the maximum', () => {
    expect(arranged([binding('a', 1), binding('b', undefined), binding('c', undefined)], 3)).toEqual({
      a: 1,
      b: 100,
      c: 101,
    });
  });

  it('then shares with the same workspace before the same provider', () => {
    const others = [
      binding('a', 1, { cluster: 'w', server: 's1' }),
      binding('b', 2, { cluster: 'x', server: 's2' }),
    ];
    const next = binding('c', undefined, { cluster: 'w', server: 's2' });
    expect(arranged([...others, next], 2)['c']).toBe(1);
  });

  it('then shares with the same provider', () => {
    const others = [binding('a', 1), binding('b', 2, { server: 's' }), binding('b2', 2)];
    expect(arranged([...others, binding('c', undefined, { server: 's' })], 2)['c']).toBe(2);
  });

  it('else takes the least loaded', () => {
    const others = [binding('a', 1), binding('a2', 1), binding('b', 2)];
    expect(arranged([...others, binding('c', undefined)], 2)['c']).toBe(2);
  });

  it('ignores an affinity that would fill a worker to twice the average', () => {
    const crowd = Array.from({ length: 8 }, (_, i) => binding(`a${String(i)}`, 1, { server: 's' }));
    const others = [2, 3, 4, 5].map((worker) => binding(`b${String(worker)}`, worker));
    expect(arranged([...crowd, ...others, binding('c', undefined, { server: 's' })], 5)['c']).toBe(2);
  });

  it('moves no good binding for a new one', () => {
    const before = [binding('a', 1), binding('b', 1), binding('c', 2)];
    expect(arranged([...before, binding('d', undefined)], 2)).toMatchObject({ a: 1, b: 1, c: 2 });
  });

  it('gives the bindings of a dead worker one each and merges good ones to make room', () => {
    const good = [1, 2, 3, 4].map((worker) => binding(`g${String(worker)}`, worker));
    const dead = ['x', 'y'].map((key) => binding(key, undefined, { standing: 'suspect' }));
    const result = arranged([...good, ...dead], 4);
    expect(result['x']).not.toBe(result['y']);
    expect(new Set([result['g1'], result['g2'], result['g3'], result['g4']])).toEqual(new Set([1, 2]));
    expect([1, 2]).not.toContain(result['x']);
  });

  it('keeps good ones from a convicted one even when every worker is taken', () => {
    const convicted = [1, 2].map((worker) =>
      binding(`c${String(worker)}`, worker, { standing: 'convicted' }),
    );
    const result = arranged([...convicted, binding('new', undefined)], 2);
    expect(result['c1']).toBe(1);
    expect(result['c2']).toBe(1);
    expect(result['new']).not.toBe(1);
  });

  it('puts everything into the only worker there may be', () => {
    expect(arranged([binding('a', 1), binding('b', undefined, { standing: 'convicted' })], 1)).toEqual({
      a: 1,
      b: 1,
    });
  });

  it('finds the one that kills among many by spreading the suspects after each death', () => {
    let state = Array.from({ length: 200 }, (_, i) => binding(`b${String(i)}`, undefined));
    let next = 0;
    let deaths = 0;
    const place = (): void => {
      const result = arrange(state, 16, next);
      state = state.map((each) => ({ ...each, worker: result.get(each.key) }));
      next = Math.max(next, ...result.values()) + 1;
    };
    place();
    for (;;) {
      const worker = state.find((each) => each.key === 'b77')?.worker;
      const neighbours = state.filter((each) => each.worker === worker).length;
      if (neighbours === 1) break;
      deaths += 1;
      state = state.map((each) =>
        each.worker === worker ? { ...each, worker: undefined, standing: 'suspect' } : each,
      );
      place();
    }
    expect(deaths).toBeLessThanOrEqual(3);
  });
});

const anyBindings = fc
  .array(
    fc.record({
      cluster: fc.constantFrom('w1', 'w2', 'w3'),
      server: fc.constantFrom('s1', 's2'),
      standing: fc.constantFrom<Standing[]>('good', 'good', 'good', 'suspect', 'convicted'),
      worker: fc.option(fc.integer({ min: 0, max: 9 }), { nil: undefined }),
    }),
    { maxLength: 40 },
  )
  .map((list) => list.map((each, i): PlacedBinding => ({ key: `k${String(i)}`, ...each })));
const anyMax = fc.integer({ min: 1, max: 10 });

describe('placement, whatever the state', () => {
  it('places every binding in no more workers than allowed', () => {
    fc.assert(
      fc.property(anyBindings, anyMax, (bindings, max) => {
        const result = arrange(bindings, max, 100);
        expect([...result.keys()].sort()).toEqual(bindings.map((each) => each.key).sort());
        expect(new Set(result.values()).size).toBeLessThanOrEqual(max);
      }),
    );
  });

  it('is a fixed point', () => {
    fc.assert(
      fc.property(anyBindings, anyMax, (bindings, max) => {
        const once = arrange(bindings, max, 100);
        const settled = bindings.map((each) => ({ ...each, worker: once.get(each.key) }));
        expect(arrange(settled, max, 200)).toEqual(once);
      }),
    );
  });

  it('never lets a good binding share with a convicted one, given two workers', () => {
    fc.assert(
      fc.property(anyBindings, fc.integer({ min: 2, max: 10 }), (bindings, max) => {
        const result = arrange(bindings, max, 100);
        const workersOf = (standing: Standing): Set<number | undefined> =>
          new Set(bindings.filter((each) => each.standing === standing).map((each) => result.get(each.key)));
        const good = workersOf('good');
        for (const worker of workersOf('convicted')) expect(good.has(worker)).toBe(false);
      }),
    );
  });

  it('moves no good binding while there is no trouble and no worker too many', () => {
    fc.assert(
      fc.property(anyBindings, (bindings) => {
        const calm = bindings.map((each) => ({ ...each, standing: 'good' as const }));
        const result = arrange(calm, 10, 100);
        for (const each of calm) {
          if (each.worker !== undefined) expect(result.get(each.key)).toBe(each.worker);
        }
      }),
    );
  });
});
