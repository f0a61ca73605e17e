import { describe, expect, it } from '@jest/globals';
import { MAX_SCHEMA_TEXT } from './limits.js';
import { createMessageReader } from './read-from-worker.js';
import type { BindingReport, ConvertedSchema } from './report.js';

const read = createMessageReader();

const schema: ConvertedSchema = {
  group: 'wildwest.dev',
  resource: 'cowboys',
  kind: 'Cowboy',
  scope: 'Namespaced',
  versions: ['v1'],
  syncVersion: 'v1',
  contentHash: 'a'.repeat(64),
  specJson: '{}',
};

const report: BindingReport = {
  key: 'cluster|uid',
  revision: 7,
  conditions: { Connected: { status: 'True', reason: 'Connected', message: '' } },
  contractNamespaceUid: 'uid',
  schemas: [schema],
  claims: [{ group: '', resource: 'secrets', selector: 'app=cowboy' }],
  sync: { objects: 3, pending: 0, failing: 0, lastSyncTime: '2026-11-30T12:00:00Z' },
  rotatedCredentials: { server: 'https://provider:6443', auth: { kind: 'token', token: 't' } },
  drained: false,
  left: false,
  remaining: [],
  namespaces: ['default'],
};

const event = {
  key: 'cluster|uid',
  apiVersion: 'wildwest.dev/v1',
  kind: 'Cowboy',
  name: 'a',
  uid: 'u',
  type: 'Warning',
  reason: 'Pruned',
  message: 'spec.extra is not known to the provider',
};

function reportWith(change: Record<string, unknown>): unknown {
  return { type: 'report', report: { ...report, ...change } };
}

describe('messages from a worker', () => {
  it.each([
    ['ready', { type: 'ready' }],
    ['report', { type: 'report', report }],
    ['report with an absent field as undefined', reportWith({ provider: undefined })],
    ['event', { type: 'event', event }],
    ['released', { type: 'released', key: 'cluster|uid' }],
    ['pulse', { type: 'pulse', metrics: '[]', externalBytes: 5 }],
  ])('accepts %s', (_name, message) => {
    expect(read(structuredClone(message))).toEqual({ ok: true, message });
  });

  it.each([
    ['no object', 'report', '/type'],
    ['null', null, '/type'],
    ['an unknown type', { type: 'eval' }, '/type'],
    ['an inherited property as type', { type: 'constructor' }, '/type'],
    ['a property that nobody reads', reportWith({ more: 1 }), '/report (additionalProperties)'],
    ['a missing property', reportWith({ drained: undefined }), '/report (required)'],
    [
      'a reason that is not on the list',
      reportWith({ conditions: { Connected: { status: 'False', reason: 'Because', message: '' } } }),
      '/report/conditions/Connected/reason (enum)',
    ],
    [
      'a condition that the worker does not decide',
      reportWith({ conditions: { Ready: { status: 'True', reason: 'Ready', message: '' } } }),
      '/report/conditions (additionalProperties)',
    ],
    [
      'a schema text that is too large',
      reportWith({ schemas: [{ ...schema, specJson: 'x'.repeat(MAX_SCHEMA_TEXT + 1) }] }),
      '/report/schemas/0/specJson (maxLength)',
    ],
    [
      'a hash that is none',
      reportWith({ schemas: [{ ...schema, contentHash: '../../x' }] }),
      '/report/schemas/0/contentHash (pattern)',
    ],
    ['too many schemas', reportWith({ schemas: Array(101).fill(schema) }), '/report/schemas (maxItems)'],
    ['a number that is none', reportWith({ revision: Number.NaN }), '/report/revision (type)'],
    [
      'credentials that name a file of ours',
      reportWith({
        rotatedCredentials: {
          server: 'https://provider',
          auth: { kind: 'tokenFile', path: '/var/run/secrets/token' },
        },
      }),
      undefined,
    ],
    [
      'credentials for a server without TLS',
      reportWith({ rotatedCredentials: { server: 'http://provider', auth: { kind: 'none' } } }),
      '/report/rotatedCredentials/server (pattern)',
    ],
    ['an event of another type', { type: 'event', event: { ...event, type: 'Fatal' } }, '/event/type (enum)'],
    ['a pulse without figures', { type: 'pulse' }, ' (required)'],
  ])('refuses %s and says where', (_name, message, path) => {
    const result = read(message);
    expect(result.ok).toBe(false);
    if (path !== undefined) expect(result).toEqual({ ok: false, path });
  });

  it('never repeats a value of the message in the path', () => {
    const result = read(
      reportWith({
        rotatedCredentials: { server: 'https://p', auth: { kind: 'token', token: 5, secret: 's' } },
      }),
    );
    expect(JSON.stringify(result)).not.toContain('secret');
  });
});
