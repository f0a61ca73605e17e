/**
 * What it takes to speak with one API server: plain data that can be posted to a worker. Made from a
 * kubeconfig by `kubeconfig.ts` (trusted, ours) or by `kubeconfig-sanitizer.ts` (from outside).
 */
export interface ServerCredentials {
  /** `https://host[:port][/path]`, without a trailing slash. */
  readonly server: string;
  /** PEM; absent: the system's authorities. */
  readonly ca?: string;
  /** Host name for SNI and verification, when it is not the one in `server`. */
  readonly tlsServerName?: string;
  readonly auth: ClientAuth;
  /** `http(s)://host:port` of a CONNECT proxy. */
  readonly proxyUrl?: string;
  /** Namespace of the kubeconfig's current context. */
  readonly namespace?: string;
  /** Sent as `Impersonate-*` headers with every request. The plugin's only; never in one from outside. */
  readonly impersonate?: Impersonation;
  /** The user's own kubeconfig says so (`insecure-skip-tls-verify`). The plugin's only, like `impersonate`. */
  readonly insecureSkipTlsVerify?: boolean;
}

/** What `--as`, `--as-group` and `--as-uid` say. */
export interface Impersonation {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly uid?: string;
}

export type ClientAuth =
  | { readonly kind: 'none' }
  | { readonly kind: 'token'; readonly token: string }
  /** Tokens of one account, each for one request at a time: docs/decisions/0010-tokens-by-lane.md. */
  | { readonly kind: 'tokens'; readonly tokens: readonly string[] }
  /** Read again when it changes; only in our own configuration, never in one from outside. */
  | { readonly kind: 'tokenFile'; readonly path: string }
  | { readonly kind: 'certificate'; readonly cert: string; readonly key: string };
