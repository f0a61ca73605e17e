import { describe, expect, it } from '@jest/globals';

import { fillOf } from './schema-leaves.js';

const text = { type: 'string' };
const schema = {
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      properties: {
        title: text,
        parts: { type: 'array', items: { type: 'object', properties: { name: text, size: text } } },
        tags: { type: 'object', additionalProperties: text },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
  },
};

describe('how much of a schema is filled', () => {
  it('counts leaves wherever they are, and once for a whole list or map', () => {
    expect(
      fillOf(schema, { spec: { parts: [{ name: 'a' }, { size: 'b' }], tags: { a: 'a', b: 'b' } } }),
    ).toEqual({
      leaves: 5,
      filled: 3,
      missing: ['.spec.title', '.spec.free'],
    });
  });

  it('takes an empty list or map for not filled, and null for filled', () => {
    expect(fillOf(schema, { spec: { title: null, parts: [], tags: {}, free: {} } }).missing).toEqual([
      '.spec.parts[].name',
      '.spec.parts[].size',
      '.spec.tags{}',
    ]);
    expect(fillOf(schema, {})).toMatchObject({ leaves: 5, filled: 0 });
  });
});
