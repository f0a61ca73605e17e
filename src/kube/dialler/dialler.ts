import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import { AddressDeniedError } from '../errors.js';
import { compilePolicy, type AddressPolicy } from './address-policy.js';
import type { DialPolicy } from './policy.js';
import { createProxyConnector } from './proxy-connector.js';
import { systemResolver, type Resolver } from './resolver.js';

/** Opens a socket to a host; what undici calls for every new connection. */
export type Connector = buildConnector.connector;

/** TLS material and route of the connections to one server. */
export interface ConnectorOptions {
  /** PEM authorities in place of the system's. */
  readonly ca?: string | undefined;
  /** PEM client certificate and its key. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Name for SNI and verification in place of the URL's host. */
  readonly tlsServerName?: string | undefined;
  /** `http(s)://host:port` of a CONNECT proxy. Refused unless the policy allows proxies. */
  readonly proxyUrl?: string | undefined;
  /** The user's own kubeconfig asks for it. Refused by the dialler for foreign hosts. */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** Milliseconds for name lookup, TCP, proxy and TLS, each step counted from the start of its own connection. */
  readonly connectTimeoutMs: number;
}

/** The only way from this program to another host. */
export interface Dialler {
  /**
   * Connectors are made once for each set of credentials and used for many connections; every connection is
   * checked. Fails connections with AddressDeniedError or with node's own errors.
   *
   * @throws AddressDeniedError for a proxy that is not allowed
   */
  connector(options: ConnectorOptions): Connector;
}

/** For hosts that a tenant or a provider named: every address really dialled passes the policy. */
export function createDialler(policy: DialPolicy, resolver: Resolver = systemResolver): Dialler {
  const addresses = compilePolicy(policy);
  return {
    connector: (options) => {
      if (options.proxyUrl !== undefined && !policy.allowProxy)
        throw new AddressDeniedError('proxy-url is not allowed; an admin can allow it with --allow-proxy');
      if (options.insecureSkipTlsVerify === true)
        throw new AddressDeniedError('insecure-skip-tls-verify is never allowed for foreign servers');
      return routed(options, (parts) => checkedConnector(parts, addresses, resolver));
    },
  };
}

/** For servers that the admin of this program configured: no limits on addresses, plain http allowed. */
export function createOpenDialler(): Dialler {
  return { connector: (options) => routed(options, (parts) => buildConnector(tlsOptions(parts))) };
}

/** With a proxy, it is the proxy's address that is dialled, and so checked. */
function routed(options: ConnectorOptions, direct: (options: ConnectorOptions) => Connector): Connector {
  const { proxyUrl, ...own } = options;
  if (proxyUrl === undefined) return direct(own);
  return createProxyConnector({
    proxyUrl,
    toProxy: direct({ connectTimeoutMs: own.connectTimeoutMs }),
    // Only adds TLS to a socket that is open already.
    overTunnel: buildConnector(tlsOptions(own)),
    timeoutMs: own.connectTimeoutMs,
  });
}

/**
 * The lookup that the socket itself makes is the one that is checked, so the address judged is the address
 * dialled. Literal addresses are not looked up and are judged before.
 */
function checkedConnector(options: ConnectorOptions, policy: AddressPolicy, resolver: Resolver): Connector {
  const connectorFor = (tls: boolean): Connector =>
    buildConnector({ ...tlsOptions(options), lookup: checkedLookup(policy, resolver, tls) });
  const secure = connectorFor(true);
  const plain = connectorFor(false);
  return (target, callback) => {
    const tls = target.protocol === 'https:';
    if (isIP(target.hostname) !== 0) {
      const refusal = policy.refusal({ host: target.hostname, address: target.hostname, tls });
      if (refusal !== undefined) {
        callback(refusal, null);
        return;
      }
    }
    (tls ? secure : plain)(target, callback);
  };
}

function checkedLookup(policy: AddressPolicy, resolver: Resolver, tls: boolean): LookupFunction {
  return (host, options, callback) => {
    resolver(host, (error, addresses) => {
      if (error !== null) {
        callback(error, '', 0);
        return;
      }
      const refusals = addresses.map(({ address }) => policy.refusal({ host, address, tls }));
      const usable = addresses.filter((_, index) => refusals[index] === undefined);
      const [first] = usable;
      if (first === undefined) {
        callback(refusals[0] ?? new AddressDeniedError(`${host} has no address`), '', 0);
      } else if (options.all === true) {
        callback(
          null,
          usable.map(({ address, family }) => ({ address, family })),
        );
      } else callback(null, first.address, first.family);
    });
  };
}

/** Keys with value undefined would override defaults of node's TLS, so only what is set is passed. */
function tlsOptions(options: ConnectorOptions): buildConnector.BuildOptions {
  return {
    timeout: options.connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelay: 30_000,
    allowH2: false,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
    ...(options.cert === undefined ? {} : { cert: options.cert }),
    ...(options.key === undefined ? {} : { key: options.key }),
    ...(options.tlsServerName === undefined ? {} : { servername: options.tlsServerName }),
    ...(options.insecureSkipTlsVerify === true ? { rejectUnauthorized: false } : {}),
  };
}
