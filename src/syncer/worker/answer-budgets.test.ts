import { describe, expect, it } from '@jest/globals';
import { answerBudgets } from './answer-budgets.js';

const MEBIBYTE = 1024 * 1024;

describe('the budgets of one answer', () => {
  it.each([
    [64, 16, 8],
    [512, 128, 64],
    [4096, 1024, 64],
  ])('with %i MiB of heap are %i MiB of heap and %i MiB of text', (heap, parsed, text) => {
    expect(answerBudgets(heap * MEBIBYTE)).toEqual({
      maxHeapBytes: parsed * MEBIBYTE,
      maxBodyBytes: text * MEBIBYTE,
    });
  });
});
