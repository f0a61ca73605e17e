import { describe, expect, it } from '@jest/globals';
import type { Connection } from '../typed-objects.js';
import { chooseConnection } from './same-backend.js';

function connection(url: string, metadata: object = {}, backend: object = {}): Connection {
  return { metadata: { name: 'west', ...metadata }, spec: { backend: { url, ...backend } } };
}

describe('the connection of a run', () => {
  const wish = { backend: { url: 'https://w.io/' }, name: undefined, derivedName: 'w.io' };
  it.each([
    ['the same backend under any name', [connection('https://W.io')], wish, 'use'],
    ['nothing of it', [connection('https://other.io')], wish, 'create'],
    ['another account of it', [connection('https://w.io', {}, { account: 'two' })], wish, 'create'],
    ['one that is leaving', [connection('https://w.io', { deletionTimestamp: 'now' })], wish, 'create'],
    [
      'the derived name for another backend',
      [connection('https://x.io', { name: 'w.io' })],
      wish,
      'conflict',
    ],
    ['the given name for the same backend', [connection('https://w.io')], { ...wish, name: 'west' }, 'use'],
    [
      'the given name for another backend',
      [connection('https://x.io')],
      { ...wish, name: 'west' },
      'conflict',
    ],
    [
      'the given name while that leaves',
      [connection('https://w.io', { deletionTimestamp: 'now' })],
      { ...wish, name: 'west' },
      'conflict',
    ],
    ['another name for the same backend', [connection('https://w.io')], { ...wish, name: 'east' }, 'create'],
  ])('where there is %s', (_name, connections, given, kind) => {
    expect(chooseConnection(connections, given).kind).toBe(kind);
  });

  it('is the oldest of several', () => {
    const connections = [
      connection('https://w.io', { name: 'b', creationTimestamp: '2026-02-01T00:00:00Z' }),
      connection('https://w.io', { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' }),
    ];
    expect(chooseConnection(connections, wish)).toMatchObject({ connection: { metadata: { name: 'a' } } });
  });
});
