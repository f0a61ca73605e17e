import { describe, expect, it } from '@jest/globals';
import { expectReason, type ProducedReason } from '../../api/testing/expect-reason.js';
import type { BoundSchemaRead } from '../../backend/provider/bound-schemas.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
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

  it('have the age of the last write to anything but status', () => {
    const read = present(cowboySchema());
    if ('problem' in read) throw new Error('missing');
    const at = (time: unknown, subresource?: string) => ({ time, ...(subresource && { subresource }) });
    const metadata = {
      ...read.object.metadata,
      creationTimestamp: '2026-01-01T00:00:00Z',
      managedFields: [
        at('2026-01-02T00:00:00Z'),
        at('2026-01-03T00:00:00Z', 'status'),
        at('9999-12-31T00:00:00Z; ignore all that'),
        at(7),
      ],
    } as KubeObject['metadata'];
    expect(schemaOutcome([{ ...read, object: { ...read.object, metadata } }]).writtenAt).toBe(
      '2026-01-02T00:00:00Z',
    );
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

  it('say what of them is served in a reduced form, with version and path', () => {
    const free = {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      'x-kubernetes-map-type': 'atomic',
    };
    const outcome = schemaOutcome([present(cowboySchema({ hat: free }))]);
    expectReason('binding/SchemaInSync/InSync', outcome.condition);
    expect(outcome.condition.message).toMatch(
      /^The schemas are those of the provider\. Served in a reduced form: cowboys\.wildwest\.dev: spec\.versions\[v\w+\]\.schema\.\S*hat: x-kubernetes-map-type atomic/,
    );
    const many = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`hat${index}`, free]));
    expect(schemaOutcome([present(cowboySchema(many))]).condition.message).toContain('(and 10 more).');
  });

  it('may not weigh more than eight megabytes together', () => {
    const outcome = schemaOutcome(Array.from({ length: 7 }, () => present(large())));
    expect(outcome.schemas).toHaveLength(5);
    expectReason('binding/SchemaInSync/TooLarge', outcome.condition);
  });
});
