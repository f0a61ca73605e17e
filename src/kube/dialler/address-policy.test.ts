import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AddressDeniedError } from '../errors.js';
import { compilePolicy } from './address-policy.js';
import { createAddressSet } from './address-set.js';
import type { DialPolicy } from './policy.js';

const STRICT: DialPolicy = { allowHosts: [], allowCidrs: [], denyCidrs: [], allowProxy: false };

function allowed(policy: Partial<DialPolicy>, address: string, host = address, tls = true): boolean {
  return compilePolicy({ ...STRICT, ...policy }).refusal({ host, address, tls }) === undefined;
}

describe('the address policy', () => {
  it.each(['1.1.1.1', '93.184.215.14', '172.32.0.1', '2606:4700::1111', '2a00:1450:4001::1'])(
    'lets the public address %s pass',
    (address) => {
      expect(allowed({}, address, 'public.test')).toBe(true);
    },
  );

  it.each([
    ['0.0.0.0', 'unspecified'],
    ['10.1.2.3', 'private'],
    ['100.64.0.1', 'shared'],
    ['100.100.100.200', 'shared'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.255', 'loopback'],
    ['168.63.129.16', 'metadata'],
    ['169.254.169.254', 'metadata'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['224.0.0.1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::ffff:8.8.8.8', 'IPv4-mapped'],
    ['::ffff:7f00:1', 'loopback'],
    ['::7f00:1', 'IPv4-compatible'],
    ['64:ff9b::10.0.0.1', 'NAT64'],
    ['64:ff9b:1::a00:1', 'NAT64'],
    ['2002:7f00:1::', '6to4'],
    ['2001::1', 'Teredo'],
    ['fd00:ec2::254', 'unique local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%lo', 'link-local'],
    ['ff02::1', 'multicast'],
  ])('refuses %s and calls it %s', (address, what) => {
    const refusal = compilePolicy(STRICT).refusal({ host: 'evil.test', address, tls: true });
    expect(refusal).toBeInstanceOf(AddressDeniedError);
    expect(refusal?.message).toContain(what);
    expect(refusal?.message).toContain(`evil.test (${address})`);
    expect(refusal?.message).toContain(`--allow-address ${address}`);
    expect(refusal?.message).toContain('--allow-backend-host evil.test');
  });

  it.each(['', 'localhost', '1.2.3', 'fe80::1%'.repeat(2), '1.1.1.1/8'])(
    'refuses %j, which is no address',
    (address) => {
      expect(allowed({ allowCidrs: ['0.0.0.0/0', '::/0'] }, address)).toBe(false);
    },
  );

  it.each<[Partial<DialPolicy>, string, string, boolean]>([
    [{ allowCidrs: ['127.0.0.0/8'] }, '127.0.0.1', 'a', true],
    [{ allowCidrs: ['127.0.0.1'] }, '127.0.0.1', 'a', true],
    [{ allowCidrs: ['127.0.0.1/32'] }, '127.0.0.2', 'a', false],
    [{ allowCidrs: ['10.0.0.0/8'] }, '::ffff:10.0.0.1', 'a', true],
    [{ allowCidrs: ['::/0'] }, '10.0.0.1', 'a', false],
    [{ allowCidrs: ['0.0.0.0/0'] }, 'fd00::1', 'a', false],
    [{ allowCidrs: ['fd00::/8'] }, 'fd00::1', 'a', true],
    [{ allowHosts: ['backend.corp'] }, '10.0.0.1', 'backend.corp', true],
    [{ allowHosts: ['backend.corp'] }, '10.0.0.1', 'Backend.Corp.', true],
    [{ allowHosts: ['backend.corp'] }, '10.0.0.1', 'xbackend.corp', false],
    [{ allowHosts: ['*.corp'] }, '10.0.0.1', 'a.b.corp', true],
    [{ allowHosts: ['*.corp'] }, '10.0.0.1', 'corp', false],
    [{ allowHosts: ['*.corp'] }, '10.0.0.1', 'evilcorp', false],
    [{ allowHosts: ['*.0.0.1'] }, '10.0.0.1', '10.0.0.1', false],
    [{ allowHosts: ['10.0.0.1'] }, '10.0.0.1', '10.0.0.1', true],
    [{ denyCidrs: ['1.0.0.0/8'] }, '1.1.1.1', 'a', false],
    [{ denyCidrs: ['1.0.0.0/8'] }, '::ffff:1.1.1.1', 'a', false],
    [{ denyCidrs: ['10.0.0.0/8'], allowCidrs: ['10.0.0.0/8'], allowHosts: ['a'] }, '10.0.0.1', 'a', false],
    [{ denyCidrs: ['::/0'] }, '1.1.1.1', 'a', true],
  ])('%j: %s for host %s: %s', (policy, address, host, expected) => {
    expect(allowed(policy, address, host)).toBe(expected);
  });

  it('lets plain http only to what an admin has named', () => {
    expect(allowed({}, '1.1.1.1', 'public.test', false)).toBe(false);
    expect(allowed({ allowHosts: ['public.test'] }, '1.1.1.1', 'public.test', false)).toBe(true);
    expect(allowed({ allowCidrs: ['127.0.0.0/8'] }, '127.0.0.1', '127.0.0.1', false)).toBe(true);
  });

  it('says which flag to look at when a range is denied', () => {
    const policy = compilePolicy({ ...STRICT, denyCidrs: ['1.0.0.0/8'] });
    expect(policy.refusal({ host: '1.1.1.1', address: '1.1.1.1', tls: true })?.message).toContain(
      '--deny-address',
    );
  });

  it('never lets a denied address pass, whatever is allowed', () => {
    const policy = compilePolicy({
      allowHosts: ['*.test'],
      allowCidrs: ['0.0.0.0/0', '::/0'],
      denyCidrs: ['0.0.0.0/0', '::/0'],
      allowProxy: true,
    });
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (address) => {
        expect(policy.refusal({ host: 'a.test', address, tls: true })).toBeInstanceOf(AddressDeniedError);
      }),
    );
  });
});

describe('createAddressSet', () => {
  it.each(['', '10.0.0.0/33', '::/129', '10.0.0/8', 'host', '10.0.0.0/8/8', '10.0.0.0/-1', 'fe80::1%lo/64'])(
    'refuses %j',
    (cidr) => {
      expect(() => createAddressSet([cidr])).toThrow(RangeError);
    },
  );
});
