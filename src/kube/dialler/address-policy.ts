import { isIP } from 'node:net';
import { AddressDeniedError } from '../errors.js';
import { GUARDED_RANGES } from './address-ranges.js';
import { createAddressSet } from './address-set.js';
import type { DialPolicy } from './policy.js';

/** Decides about one address at the moment it is dialled. */
export interface AddressPolicy {
  /** Undefined when the address may be dialled, else why not. */
  refusal(target: DialTarget): AddressDeniedError | undefined;
}

export interface DialTarget {
  /** As in the URL, without brackets. */
  readonly host: string;
  /** The address that is about to be dialled. */
  readonly address: string;
  /** Over plain http everybody on the way reads the token, so only what an admin has named may use it. */
  readonly tls: boolean;
}

/** @throws RangeError for a malformed CIDR */
export function compilePolicy(policy: DialPolicy): AddressPolicy {
  const denied = createAddressSet(policy.denyCidrs);
  const allowed = createAddressSet(policy.allowCidrs);
  const hosts = policy.allowHosts.map(normaliseHost);
  const guarded = GUARDED_RANGES.map(([cidr, what]) => ({ set: createAddressSet([cidr]), what }));
  return {
    refusal({ host, address, tls }) {
      const target = host === address ? address : `${host} (${address})`;
      if (isIP(address) === 0) return new AddressDeniedError(`${target} is not an IP address`);
      if (denied.has(address))
        return new AddressDeniedError(
          `${target} is in a range that --deny-address forbids; no other flag allows it`,
        );
      if (allowed.has(address) || hosts.some((pattern) => matchesHost(pattern, normaliseHost(host))))
        return undefined;
      const range = guarded.find(({ set }) => set.has(address));
      const hint = `an admin can allow it with --allow-address ${address} or --allow-backend-host ${host}`;
      if (range !== undefined)
        return new AddressDeniedError(
          `${target} is a ${range.what} address, which the address policy refuses; ${hint}`,
        );
      if (!tls) return new AddressDeniedError(`${target} may only be reached by https; ${hint}`);
      return undefined;
    },
  };
}

function normaliseHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

function matchesHost(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.')) return pattern === host;
  const suffix = pattern.slice(1);
  // An address is no name below a domain, whatever its text ends with.
  return host.length > suffix.length && host.endsWith(suffix) && isIP(host) === 0;
}
