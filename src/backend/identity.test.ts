import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { consumerIdentity, normalizeOrigin, type IdentitySubject } from './identity.js';

const KEY = new Uint8Array(32).fill(7);
const SUBJECT: IdentitySubject = {
  clusterUid: '0b9b5e4c-0000-4000-8000-000000000001',
  connectionName: 'bigcorp',
  origin: 'https://bind.example.com',
};

describe('consumerIdentity', () => {
  it('never changes for what it was given', () => {
    // A change of this value takes every existing consumer's account away.
    expect(consumerIdentity(KEY, SUBJECT)).toBe('G8EhaLT2fcfX0zswVaJN3gQ6jRv9s0blrX5FUr5gDfQ');
  });

  it('takes what is absent for its default', () => {
    expect(consumerIdentity(KEY, { ...SUBJECT, clusterID: '', account: 'default' })).toBe(
      consumerIdentity(KEY, SUBJECT),
    );
  });

  it('differs as soon as anything differs, and cannot be moved from one field to another', () => {
    const part = fc.constantFrom('', 'a', 'b', 'ab', '1:a', 'a1:b');
    const subject = fc.record({
      clusterUid: part,
      connectionName: part,
      origin: part,
      clusterID: part,
      account: part,
    });
    fc.assert(
      fc.property(subject, subject, (a, b) => {
        const same = JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort());
        expect(consumerIdentity(KEY, a) === consumerIdentity(KEY, b)).toBe(same);
      }),
    );
    expect(consumerIdentity(new Uint8Array(32), SUBJECT)).not.toBe(consumerIdentity(KEY, SUBJECT));
  });

  it('is text of 43 characters that any backend takes', () => {
    expect(consumerIdentity(KEY, SUBJECT)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('refuses a key that is too short', () => {
    expect(() => consumerIdentity(new Uint8Array(31), SUBJECT)).toThrow(RangeError);
  });
});

describe('normalizeOrigin', () => {
  it.each([
    ['https://Bind.Example.com', 'https://bind.example.com'],
    ['https://bind.example.com:443/', 'https://bind.example.com'],
    ['https://bind.example.com/api/exports', 'https://bind.example.com'],
    ['https://bind.example.com/kb//', 'https://bind.example.com/kb'],
    ['http://bind.example.com:80', 'http://bind.example.com'],
    ['https://bind.example.com:8443', 'https://bind.example.com:8443'],
    ['https://[::1]:8443/x', 'https://[::1]:8443/x'],
  ])('%s becomes %s', (url, origin) => {
    expect(normalizeOrigin(url)).toBe(origin);
    expect(normalizeOrigin(origin)).toBe(origin);
  });
});
