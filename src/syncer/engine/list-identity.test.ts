import { expect, it } from '@jest/globals';
import type { JsonObject } from '../../kube/json-value.js';
import { indexItems } from './list-identity.js';

it('items of a list are told apart by a key of any name', () => {
  for (const name of ['key', '__proto__', 'constructor']) {
    const items = JSON.parse(`[{"${name}":"a"},{"${name}":"b"}]`) as JsonObject[];
    expect(indexItems({ by: 'keys', names: [name] }, items).size).toBe(2);
  }
});
