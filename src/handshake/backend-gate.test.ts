import { describe, expect, it } from '@jest/globals';
import type { LogicalCluster } from '../kube/object.js';
import { BackendGate } from './backend-gate.js';

const [one, two, three] = ['one', 'two', 'three'] as LogicalCluster[] as [
  LogicalCluster,
  LogicalCluster,
  LogicalCluster,
];

function slow() {
  let end: () => void = () => undefined;
  const work = () => new Promise<void>((resolve) => (end = resolve));
  return { work, end: () => end() };
}

describe('the gate to backends', () => {
  it('lets in what fits, of all and of each workspace', async () => {
    const gate = new BackendGate({ all: 3, ofOneWorkspace: 2 });
    const talks = [slow(), slow(), slow()] as const;
    const open = [gate.pass(one, talks[0].work), gate.pass(one, talks[1].work)];
    await expect(gate.pass(one, slow().work)).rejects.toMatchObject({ code: 'busy' });
    open.push(gate.pass(two, talks[2].work));
    await expect(gate.pass(three, slow().work)).rejects.toMatchObject({ code: 'busy' });
    talks[0].end();
    await open[0];
    expect(await gate.pass(one, async () => 'in')).toBe('in');
    for (const talk of talks) talk.end();
    await Promise.all(open);
  });

  it('frees the place of work that failed', async () => {
    const gate = new BackendGate({ all: 1, ofOneWorkspace: 1 });
    for (let i = 0; i < 3; i++) {
      await expect(gate.pass(one, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
    expect(await gate.pass(two, async () => 'in')).toBe('in');
  });
});
