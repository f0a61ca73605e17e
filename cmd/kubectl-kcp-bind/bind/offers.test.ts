import { describe, expect, it } from '@jest/globals';
import type { Offer } from '../typed-objects.js';
import { offerLines, readChoice } from './offers.js';

describe('the choice of templates', () => {
  const offers: Offer[] = [{ template: 'a' }, { template: 'b' }, { template: '3' }];
  it.each([
    ['1, b', ['a', 'b']],
    ['b a b', ['a', 'b']],
    ['3', ['3']],
    ['all', ['a', 'b', '3']],
  ])('%j chooses %j', (answer, expected) => {
    expect(readChoice(answer, offers)).toEqual({
      kind: 'chosen',
      offers: offers.filter(({ template }) => expected.includes(template)),
    });
  });
  it.each([
    ['', 'nothing'],
    [' , ', 'nothing'],
    ['0', 'unclear'],
    ['4', 'unclear'],
    ['-1', 'unclear'],
    ['c', 'unclear'],
  ])('%j is %s', (answer, kind) => expect(readChoice(answer, offers).kind).toBe(kind));

  it('is shown without what could change the terminal', () => {
    const hostile: Offer[] = [{ template: 'a', title: '\u001b]0;x\u0007', description: 'one\ntwo\u202e' }];
    expect(offerLines(hostile).join('\n')).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
  });
});
