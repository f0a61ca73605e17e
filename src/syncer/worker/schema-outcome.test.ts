import { describe, expect, it } from '@jest/globals';
import { expectReason, type ProducedReason } from '../../api/testing/expect-reason.js';
import type { BoundSchemaRead } from '../../backend/provider/bound-schemas.js';
import type { JsonObject } from '../../kube/json-value.js';
import { schemaOutcome } from './schema-outcome.js';
import { cowboySchema } from './testing/fake-provider.js';

const resource = { group: 'wildwest.dev', resource: 'cowboys', versions: ['v1'] };

function present(spec: JsonObject, name = 'cowboys.wildwest.dev'): BoundSchemaRead {
  const object = { apiVersion: 'kube-bind.io/v1alpha2', kind: 'BoundSchema', metadata: { name }, spec };
  return { resource, name, object };
}

function large(): JsonObject {
  return cowboySchema({ hat: { type: 'string', description: 'x'.repeat(1_500_000) } });
}

describe('schemas of an export', () => {
  it('are in sync when all could be converted', () => {
    const outcome = schemaOutcome([present(cowboySchema())]);
    expectReason('binding/SchemaInSync/InSync', outcome.condition);
    expect(outcome).toMatchObject({ complete: true, condition: { status: 'True' } });
    expect(outcome.schemas).toHaveLength(1);
  });

  it.each<[string, BoundSchemaRead, ProducedReason]>([
    [
      'missing',
      { resource, name: 'cowboys.wildwest.dev', problem: 'Missing' },
      'binding/SchemaInSync/Pending',
    ],
    [
      'of another API',
      { resource, name: 'cowboys.wildwest.dev', problem: 'OtherResource' },
      'binding/SchemaInSync/Unsupported',
    ],
    ['not for kcp', present({ ...cowboySchema(), scope: 'Everywhere' }), 'binding/SchemaInSync/Unsupported'],
  ])('that are %s are named and hold back none of the others', (_name, bad, produced) => {
    const outcome = schemaOutcome([bad, present(cowboySchema())]);
    expectReason(produced, outcome.condition);
    expect(outcome.condition.status).toBe('False');
    expect(outcome.condition.message).toContain('cowboys.wildwest.dev');
    expect(outcome.schemas).toHaveLength(1);
    expect(outcome.complete).toBe(false);
  });

  it('may not weigh more than eight megabytes together', () => {
    const outcome = schemaOutcome(Array.from({ length: 7 }, () => present(large())));
    expect(outcome.schemas).toHaveLength(5);
    expectReason('binding/SchemaInSync/TooLarge', outcome.condition);
  });
});
