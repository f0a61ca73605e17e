import { lookup } from 'node:dns';

/** One address of a host. */
export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Turns a host name into its addresses, in the order in which they should be tried. */
export type Resolver = (
  hostname: string,
  callback: (error: Error | null, addresses: readonly ResolvedAddress[]) => void,
) => void;

/** The system's resolver, which honours its hosts file and search domains. */
export const systemResolver: Resolver = (hostname, callback) => {
  lookup(hostname, { all: true, verbatim: true }, (error, addresses) =>
    callback(error, error ? [] : addresses),
  );
};
