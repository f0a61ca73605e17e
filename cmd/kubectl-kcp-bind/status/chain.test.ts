import { describe, expect, it } from '@jest/globals';
import { condition, COWBOYS } from '../testing/fake-controller.js';
import type { Binding, Connection } from '../typed-objects.js';
import { followChain } from './chain.js';

const OK = [
  condition('Connected', 'True', 'Connected'),
  condition('ExportReady', 'True', 'ExportReady'),
  condition('SchemaInSync', 'True', 'InSync'),
  condition('APIBound', 'True', 'Bound'),
  condition('Syncing', 'True', 'Syncing'),
];

/** All links hold but those that are given. */
function binding(...changes: { type: string }[]): Binding {
  const conditions = OK.map(
    (one) => changes.find(({ type }) => type === (one as { type: string }).type) ?? one,
  );
  return {
    metadata: { name: 'cowboys' },
    spec: { connection: 'west', template: COWBOYS.template },
    status: { conditions },
  } as unknown as Binding;
}

function broken(type: string, reason: string, status = 'False'): { type: string } {
  return condition(type, status, reason, 'because') as { type: string };
}

const CONNECTION = { metadata: { name: 'west' }, spec: {} } as unknown as Connection;

describe('followChain', () => {
  it('is whole where every link holds', () => {
    const chain = followChain(binding(), CONNECTION);
    expect(chain.links.map(({ link, state }) => `${link} ${state}`)).toEqual([
      'connection ok',
      'export ok',
      'schema ok',
      'API ok',
      'sync ok',
    ]);
    expect(chain.first).toBeUndefined();
  });

  it.each([
    ['Connected', 'ConnectionNotReady', 'connection', 'waiting'],
    ['ExportReady', 'TemplateNotFound', 'export', 'broken'],
    ['ExportReady', 'RequestPending', 'export', 'waiting'],
    ['SchemaInSync', 'Unsupported', 'schema', 'broken'],
    ['APIBound', 'NameConflict', 'API', 'broken'],
    ['APIBound', 'NotServed', 'API', 'waiting'],
    ['Syncing', 'ObjectsFailing', 'sync', 'waiting'],
  ])('names the first link that does not hold: %s %s', (type, reason, link, state) => {
    const { first, links } = followChain(binding(broken(type, reason)), CONNECTION);
    expect(first?.link).toMatchObject({ link, state, text: `${reason}: because` });
    expect(first?.meaning).toMatch(/\w+ \w+/);
    expect(first?.todo).toMatch(/\w+ \w+/);
    expect(links.filter((one) => one.state === state)).toHaveLength(1);
  });

  it('says nothing about what stands behind the first broken link', () => {
    const { links } = followChain(
      binding(broken('SchemaInSync', 'Rejected'), broken('APIBound', 'Pending')),
      CONNECTION,
    );
    expect(links.map(({ state }) => state)).toEqual(['ok', 'ok', 'broken', 'later', 'ok']);
  });

  it('does not take a schema that is not followed for trouble', () => {
    expect(
      followChain(binding(broken('SchemaInSync', 'NotFollowed', 'Unknown')), CONNECTION).first,
    ).toBeUndefined();
  });

  it('hands on what the connection says, and how to make one that is missing', () => {
    const cut = binding(broken('Connected', 'ConnectionNotReady'));
    const expired = {
      ...CONNECTION,
      status: { conditions: [condition('Authenticated', 'False', 'LoginExpired', 'ten minutes')] },
    } as unknown as Connection;
    expect(followChain(cut, expired).first?.todo).toContain('LoginExpired: ten minutes');
    expect(followChain(cut, expired).first?.todo).toContain('kubectl kcp bind login west');
    expect(followChain(cut, undefined).first?.todo).toContain('--connection west');
  });

  it('waits where the controller has not reported', () => {
    const fresh = { metadata: { name: 'a' }, spec: { connection: 'west' } } as unknown as Binding;
    const { first, links } = followChain(fresh, CONNECTION);
    expect(links.map(({ state }) => state)).toEqual(['waiting', 'later', 'later', 'later', 'later']);
    expect(first?.todo).toContain('doctor');
  });
});
