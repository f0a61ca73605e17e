import { describe, expect, it } from '@jest/globals';
import { GVR } from '../api/gvr.js';
import { basePath, checkRawPath, resourcePath, withQuery } from './paths.js';

describe('resourcePath', () => {
  it.each([
    [resourcePath(GVR.namespaces), '/api/v1/namespaces'],
    [resourcePath(GVR.secrets, { namespace: 'a', name: 'b' }), '/api/v1/namespaces/a/secrets/b'],
    [
      resourcePath(GVR.clusterBindings, { namespace: 'a', name: 'b', subresource: 'status' }),
      '/apis/kube-bind.io/v1alpha2/namespaces/a/clusterbindings/b/status',
    ],
    [
      resourcePath(GVR.clusterRoles, { name: 'system:Node x?z#' }),
      '/apis/rbac.authorization.k8s.io/v1/clusterroles/system:Node%20x%3Fz%23',
    ],
  ])('%s', (path, expected) => {
    expect(path).toBe(expected);
  });

  it.each(['', '.', '..', '../../x', 'a/b', 'a%2fb', '%2e%2e'])(
    'refuses the name %j, which would address something else',
    (name) => {
      expect(() => resourcePath(GVR.secrets, { namespace: 'a', name })).toThrow(/name/);
      expect(() => resourcePath(GVR.secrets, { namespace: name, name: 'a' })).toThrow(/namespace/);
    },
  );
});

describe('withQuery', () => {
  it('encodes values and leaves out what is undefined', () => {
    expect(withQuery('/p', {})).toBe('/p');
    expect(withQuery('/p', { a: 'x=y,z&', b: undefined, c: true, d: 5 })).toBe(
      '/p?a=x%3Dy%2Cz%26&c=true&d=5',
    );
  });
});

describe('basePath', () => {
  it.each([
    ['', ''],
    ['/', ''],
    ['/clusters/root:a:b', '/clusters/root:a:b'],
    ['/clusters/root:a:b/', '/clusters/root:a:b'],
    ['/services/apiexport/x/y/clusters/*', '/services/apiexport/x/y/clusters/*'],
    ['/a%20b', '/a%20b'],
  ])('keeps %j verbatim but for a trailing slash', (path, expected) => {
    expect(basePath(path)).toBe(expected);
  });

  it.each(['clusters', '/a b', '/a?b', '/a#b', '/a/../b', '/a/%2e%2E/b', '/a\r\nb', '/a\\b', '/ä'])(
    'refuses %j',
    (path) => {
      expect(() => basePath(path)).toThrow();
    },
  );

  it('lets a raw path have a query', () => {
    expect(() => checkRawPath('/apis?a=../b')).not.toThrow();
  });
});
