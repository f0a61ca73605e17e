import { describe, expect, it } from '@jest/globals';
import { BINDING_REASONS, CONNECTION_REASONS } from '../../../src/api/conditions.js';
import type { Binding, Connection } from '../typed-objects.js';
import { explainBinding, explainConnection, NEEDS_SOMEBODY } from './explain.js';

function binding(init: Partial<Binding['spec']> = {}, metadata: object = {}, status: object = {}): Binding {
  return {
    metadata: { name: 'cowboys', uid: 'u1', annotations: { 'kcp.io/cluster': 'c1' }, ...metadata },
    spec: { connection: 'west', template: 'cowboys', ...init },
    status,
  };
}

function connection(url: string, metadata: object = {}, backend: object = {}): Connection {
  return { metadata: { name: 'west', ...metadata }, spec: { backend: { url, ...backend } } };
}

describe('what holds something back', () => {
  const state = (type: string, status: string, reason: string, message = 'm'): object => ({
    type,
    status,
    reason,
    message,
  });
  const of = (conditions: object[], more: object = {}): Binding => binding({}, {}, { conditions, ...more });

  it('is only looked for in the closed list of reasons', () => {
    const known = new Set<string>([
      ...Object.values(CONNECTION_REASONS).flat(),
      ...Object.values(BINDING_REASONS).flat(),
    ]);
    expect([...NEEDS_SOMEBODY].filter((reason) => !known.has(reason))).toEqual([]);
  });

  it.each([
    ['nothing', [state('Ready', 'True', 'Ready')], { kind: 'ready' }],
    ['the controller’s silence', [], { kind: 'waiting', why: 'the controller has not reported yet' }],
    [
      'the first False of the chain',
      [
        state('Syncing', 'False', 'Pending'),
        state('ExportReady', 'False', 'RequestPending', 'soon'),
        state('Ready', 'False', 'NotReady'),
      ],
      { kind: 'waiting', why: 'ExportReady RequestPending: soon' },
    ],
    [
      'an Unknown one before Ready',
      [state('APIBound', 'Unknown', 'Pending', 'kcp works'), state('Ready', 'False', 'NotReady')],
      { kind: 'waiting', why: 'APIBound Pending: kcp works' },
    ],
    [
      'not a claim that was not accepted',
      [state('PermissionClaimsAccepted', 'False', 'NotAccepted'), state('Syncing', 'False', 'Pending', 's')],
      { kind: 'waiting', why: 'Syncing Pending: s' },
    ],
    [
      'not a schema that its backend does not follow',
      [
        state('SchemaInSync', 'Unknown', 'NotFollowed'),
        state('APIBound', 'Unknown', 'Pending', 'kcp works'),
        state('Ready', 'False', 'NotReady'),
      ],
      { kind: 'waiting', why: 'APIBound Pending: kcp works' },
    ],
    [
      'what needs somebody',
      [state('SchemaInSync', 'False', 'Unsupported', 'u')],
      { kind: 'stuck', reason: 'Unsupported' },
    ],
  ])('is %s', (_name, conditions, expected) => {
    expect(explainBinding(of(conditions))).toMatchObject(expected);
  });

  it('is nothing that an older generation’s status says', () => {
    const stale = of([state('Ready', 'True', 'Ready')], { observedGeneration: 1 });
    stale.metadata.generation = 2;
    expect(explainBinding(stale).kind).toBe('waiting');
  });

  it('is not that a connection was not used yet', () => {
    const unused = connection('https://x');
    unused.status = {
      conditions: [
        state('CredentialsValid', 'Unknown', 'NotUsedYet'),
        state('Authenticated', 'False', 'LoginExpired', 'log in again'),
      ],
    } as NonNullable<Connection['status']>;
    expect(explainConnection(unused)).toMatchObject({ kind: 'stuck', reason: 'LoginExpired' });
  });
});
