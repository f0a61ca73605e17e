import { describe, expect, it } from '@jest/globals';
import { parseExternalUrl, withoutPrefix } from './external-url.js';

describe('withoutPrefix', () => {
  const external = parseExternalUrl('https://example.com/kube/bind/');

  it.each([
    ['/kube/bind/login/x?y=/kube/bind/', '/login/x?y=/kube/bind/'],
    ['/login/x', '/login/x'],
    ['/kube/bind', '/kube/bind'],
    ['/kube/binder/login/x', '/kube/binder/login/x'],
    ['/other/kube/bind/login/x', '/other/kube/bind/login/x'],
  ])('makes of %s %s', (path, seen) => expect(withoutPrefix(external, path)).toBe(seen));

  it('changes nothing without a prefix or an address', () => {
    expect(withoutPrefix(parseExternalUrl('https://example.com'), '/login/x')).toBe('/login/x');
    expect(withoutPrefix(undefined, '/healthz')).toBe('/healthz');
  });
});
