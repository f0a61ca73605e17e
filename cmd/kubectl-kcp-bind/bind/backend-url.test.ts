import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { connectionNameFor, parseBackendUrl } from './backend-url.js';

describe('a provider’s URL', () => {
  it.each([
    ['https://bind.example.com', 'https://bind.example.com', false],
    ['https://Bind.Example.com:443/', 'https://bind.example.com', false],
    ['https://bind.example.com:8443/prefix/', 'https://bind.example.com:8443/prefix', false],
    ['https://bind.example.com/api/exports', 'https://bind.example.com', false],
    ['https://bind.example.com/exports', 'https://bind.example.com', false],
    ['http://bind.example.com', 'http://bind.example.com', true],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080', false],
    ['http://127.0.0.1.example.com', 'http://127.0.0.1.example.com', true],
  ])('%s is %s', (text, url, insecure) => {
    expect(parseBackendUrl(text)).toMatchObject({ url, insecure });
  });

  it.each([
    'bind.example.com',
    'ftp://x',
    'javascript:alert(1)',
    'https://u:p@x',
    'https://u@x',
    'https://x/?a=b',
    'https://x/#a',
    `https://x/${'a'.repeat(3000)}`,
  ])('%s is refused', (text) => expect(() => parseBackendUrl(text)).toThrow());

  it('gives a connection its name', () => {
    expect(connectionNameFor({ url: 'https://bind.example.com' })).toBe('bind.example.com');
    expect(connectionNameFor({ url: 'http://[::1]:8080', clusterID: 'Prod_EU', account: 'default' })).toBe(
      '1-8080-prod-eu',
    );
    expect(connectionNameFor({ url: 'https://x.io', account: 'two' })).toBe('x.io-two');
  });

  it('always gives a name that Kubernetes takes', () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.string(), (url, account) => {
        const name = connectionNameFor({ url, account });
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        expect(name.length).toBeLessThanOrEqual(63);
      }),
    );
  });
});
