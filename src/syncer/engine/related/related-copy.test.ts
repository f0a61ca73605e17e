import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseJson } from '../../../kube/json.js';
import type { JsonObject } from '../../../kube/json-value.js';
import type { KubeObject } from '../../../kube/object.js';
import { differenceOf, needsNewObject, relatedCopy, updatedCopy } from './related-copy.js';
import { relatedKind, RELATED_KINDS } from './related-kinds.js';
import type { RelatedKind } from './related-kinds.js';

const SECRET = relatedKind('', 'secrets') ?? RELATED_KINDS[0]!;
const ACCOUNT = relatedKind('', 'serviceaccounts') ?? RELATED_KINDS[0]!;
const MARKS = { cluster: 'abc', contractNamespace: 'contract', bindingUid: 'b-1', bindingName: 'databases' };

function secret(fields: JsonObject, metadata: JsonObject = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'a', namespace: 'ns', uid: 'u-1', resourceVersion: '7', ...metadata },
    ...fields,
  };
}

function copyOf(original: KubeObject, kind: RelatedKind = SECRET): KubeObject {
  return relatedCopy(
    original,
    { kind, to: 'provider', target: { namespace: 'contract-ns', name: 'a' } },
    MARKS,
  ).object;
}

describe('the copy of a related object', () => {
  it('carries the fields of its kind, user metadata and marks, and nothing of its server', () => {
    const original = secret(
      { data: { a: 'YQ==' }, type: 'Opaque', immutable: true, surprise: { x: 1 } },
      {
        labels: {
          app: 'x',
          'claimed.internal.apis.kcp.io/abc': 'y',
          'kcp.kube-bind.io/binding-uid': 'forged',
        },
        annotations: { note: 'n', 'kcp.io/cluster': 'abc', 'kube-bind.io/consumer-uid': 'forged' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'x' }],
        finalizers: ['x/y'],
      },
    );
    expect(copyOf(original)).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      data: { a: 'YQ==' },
      type: 'Opaque',
      immutable: true,
      metadata: {
        name: 'a',
        namespace: 'contract-ns',
        labels: { app: 'x', 'kube-bind.io/owner': 'consumer', 'kcp.kube-bind.io/binding-uid': 'b-1' },
        annotations: {
          note: 'n',
          'kube-bind.io/cluster-namespace': 'contract',
          'kube-bind.io/consumer-namespace': 'ns',
          'kube-bind.io/consumer-uid': 'u-1',
          'kcp.kube-bind.io/cluster': 'abc',
          'kcp.kube-bind.io/binding': 'databases',
          'kcp.kube-bind.io/copied-keys': '[["app"],["note"]]',
        },
      },
    });
  });

  it('leaves the list of tokens to each server', () => {
    const account = {
      ...secret({ secrets: [{ name: 't' }], imagePullSecrets: [{ name: 'p' }] }),
      kind: 'ServiceAccount',
    };
    expect(copyOf(account, ACCOUNT)).toMatchObject({ imagePullSecrets: [{ name: 'p' }] });
    expect(copyOf(account, ACCOUNT)).not.toHaveProperty('secrets');
  });

  it('takes keys such as __proto__ for what they are', () => {
    const original = secret({ data: parseJson('{"__proto__":"YQ==","constructor":"Yg=="}') });
    const copy = copyOf(original);
    expect(Object.keys(copy['data'] as JsonObject)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(copy['data'])).toBe(Object.prototype);
    expect(differenceOf({ ...copy, data: {} }, copy, SECRET)).toBe('content');
    const put = updatedCopy({ ...copy, data: {} }, copy, SECRET);
    expect(Object.keys(put['data'] as JsonObject)).toEqual(['__proto__', 'constructor']);
  });

  it('does not differ by what servers fill in or leave out', () => {
    const copy = copyOf(secret({ data: {} }));
    expect(differenceOf({ ...copy, type: 'Opaque', data: undefined }, copy, SECRET)).toBe('none');
  });

  it('keeps labels and annotations of others, and takes away what came from the original', () => {
    const live = copyOf(
      secret({ data: {} }, { labels: { old: 'x', both: '1' }, annotations: { gone: 'y' } }),
    );
    live.metadata.labels = { ...live.metadata.labels, theirs: 'z' };
    const desired = copyOf(secret({ data: {} }, { labels: { both: '2' } }));
    expect(differenceOf(live, desired, SECRET)).toBe('metadata');
    const { labels, annotations } = updatedCopy(live, desired, SECRET).metadata;
    expect(labels).toMatchObject({ theirs: 'z', both: '2' });
    expect(labels).not.toHaveProperty('old');
    expect(annotations).not.toHaveProperty('gone');
  });

  it.each<[string, JsonObject, JsonObject, boolean]>([
    ['another type', { type: 'Opaque' }, { type: 'kubernetes.io/tls' }, true],
    ['no type and Opaque', {}, { type: 'Opaque' }, false],
    ['other data of a mutable one', { data: { a: 'x' } }, { data: { a: 'y' } }, false],
    [
      'other data of an immutable one',
      { data: { a: 'x' }, immutable: true },
      { data: { a: 'y' }, immutable: true },
      true,
    ],
    ['an immutable one that is to be mutable', { immutable: true }, {}, true],
    ['a mutable one that is to be immutable', {}, { immutable: true }, false],
  ])('with %s needs a new object: see the last column', (_, live, desired, expected) => {
    expect(needsNewObject(copyOf(secret(live)), copyOf(secret(desired)), SECRET)).toBe(expected);
  });

  it('is as it should be after one update, whatever it was', () => {
    const key = fc.constantFrom('a', 'b', '__proto__', 'kcp.io/x', 'constructor');
    const map = fc.dictionary(key, fc.constantFrom('1', '2'), { noNullPrototype: true });
    const arbitrary = fc.record({ data: map, labels: map, annotations: map }, { noNullPrototype: true });
    fc.assert(
      fc.property(arbitrary, arbitrary, map, (before, after, others) => {
        const live = copyOf(
          secret({ data: before.data }, { labels: before.labels, annotations: before.annotations }),
        );
        live.metadata.labels = { ...others, ...live.metadata.labels };
        const desired = copyOf(
          secret({ data: after.data }, { labels: after.labels, annotations: after.annotations }),
        );
        const put = updatedCopy(live, desired, SECRET);
        expect(differenceOf(put, desired, SECRET)).toBe('none');
        expect(differenceOf(updatedCopy(put, desired, SECRET), desired, SECRET)).toBe('none');
      }),
    );
  });
});
