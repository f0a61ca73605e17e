import { BlockList, isIP } from 'node:net';

/**
 * A set of CIDRs. IPv4 and IPv6 are kept apart, because one list would let `::/0` or `::ffff:0:0/96` match
 * plain IPv4 addresses; IPv4-mapped addresses are looked up in both.
 */
export interface AddressSet {
  /** False for text that is no address. */
  has(address: string): boolean;
}

/**
 * @param cidrs `address/prefix`, or an address alone
 * @throws RangeError for text that is neither
 */
export function createAddressSet(cidrs: readonly string[]): AddressSet {
  const v4 = new BlockList();
  const v6 = new BlockList();
  for (const cidr of cidrs) {
    const { address, prefix, family } = parseCidr(cidr);
    (family === 4 ? v4 : v6).addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  }
  return {
    has(address) {
      const bare = withoutZone(address);
      if (isIP(bare) === 4) return v4.check(bare, 'ipv4');
      return isIP(bare) === 6 && (v6.check(bare, 'ipv6') || v4.check(bare, 'ipv6'));
    },
  };
}

function parseCidr(cidr: string): { address: string; prefix: number; family: 4 | 6 } {
  const match = /^([0-9a-fA-F.:]+)(?:\/(\d{1,3}))?$/.exec(cidr);
  const address = match?.[1] ?? '';
  const family = isIP(address);
  const widest = family === 4 ? 32 : 128;
  const prefix = match?.[2] === undefined ? widest : Number(match[2]);
  if ((family !== 4 && family !== 6) || prefix > widest)
    throw new RangeError(`${JSON.stringify(cidr)} is not a CIDR such as 10.0.0.0/8 or fd00::/8`);
  return { address, prefix, family };
}

/** `fe80::1%eth0` is an address to the resolver, but not to BlockList. */
function withoutZone(address: string): string {
  return address.split('%', 1)[0] ?? '';
}
