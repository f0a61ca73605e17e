import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../kube/json-value.js';
import { member } from './field-access.js';
import { desiredCopy } from './desired-copy.js';
import { joinedForeignObject, judgeAnswer } from './judge-answer.js';
import { sentGeneration } from './sent-generation.js';
import { MARKS, TARGET, consumerObject, copyOf, entry } from './testing/samples.js';

const consumer = consumerObject({ spec: { size: 1, name: 'a' } });
const desired = desiredCopy(consumer, TARGET, MARKS);

describe('the answer to a write', () => {
  it('is told from a later one, however many fields the server stores otherwise', () => {
    const data = (value: string) =>
      Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`k${String(index)}`, value]));
    const large = consumerObject({ data: data('a'), spec: { size: 1 } });
    const judged = (content: JsonObject) => {
      const verdict = judgeAnswer(desiredCopy(large, TARGET, MARKS), copyOf(large, {}, content));
      return verdict.kind === 'otherwise' ? verdict.fingerprint : undefined;
    };
    const mutated = judged({ data: data('A') });
    expect(judged({ data: data('A') })).toBe(mutated);
    expect(judged({ data: data('A'), spec: { size: 2 } })).not.toBe(mutated);
  });

  it('is as meant where all that was sent is there and ours', () => {
    expect(judgeAnswer(desired, copyOf(consumer))).toEqual({ kind: 'asMeant' });
  });

  it('is worth another try where values are missing or other ones', () => {
    expect(judgeAnswer(desired, copyOf(consumer, {}, { spec: { size: 1 } }))).toMatchObject({
      reason: 'Pruned',
      fields: ['spec.name'],
      repairable: true,
    });
    expect(judgeAnswer(desired, copyOf(consumer, {}, { spec: { size: 2, name: 'a' } }))).toMatchObject({
      reason: 'Mutated',
      fields: ['spec.size'],
      repairable: true,
    });
  });

  it('is not where only the owner of a value is another one', () => {
    const { object } = desired;
    const managedFields = [entry('kcp.kube-bind.io', 'Apply', { ...object, spec: { size: 1 } })];
    expect(judgeAnswer(desired, copyOf(consumer, { managedFields }))).toMatchObject({
      kind: 'otherwise',
      repairable: false,
    });
  });
});

describe('the answer to a create that met somebody else’s object', () => {
  const ours = copyOf(consumer).metadata.managedFields ?? [];
  const theirs = entry('other', 'Update', consumerObject({ spec: { name: 'b' } }));
  it.each([
    ['has no other manager and is in its first generation', { generation: 1 }, false],
    ['has another manager', { generation: 1, managedFields: [...ours, theirs] }, true],
    ['is in a later generation', { generation: 2 }, true],
  ])('%s: %#', (_name, change, expected) =>
    expect(joinedForeignObject(copyOf(consumer, change))).toBe(expected),
  );
});

describe('what a copy says of itself', () => {
  it.each([
    ['7', 7],
    ['-1', 0],
    ['x', 0],
    ['1e3', 0],
    ['99999999999999999999', 0],
  ])('generation %j is %d', (text, expected) => {
    const annotations = { 'kcp.kube-bind.io/consumer-generation': text };
    expect(sentGeneration(copyOf(consumer, { annotations }))).toBe(expected);
  });

  it('is never something inherited', () => {
    expect(member({ a: 1 }, 'constructor')).toBeUndefined();
    expect(member({ a: 1 }, 'toString')).toBeUndefined();
    expect(member([1], '0')).toBeUndefined();
  });
});
