/** `clusters[].cluster` of a kubeconfig, paths made absolute. */
export interface ClusterEntry {
  readonly server?: string;
  readonly certificateAuthority?: string;
  readonly certificateAuthorityData?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
}

/** `users[].user` of a kubeconfig, paths made absolute. */
export interface UserEntry {
  readonly token?: string;
  readonly tokenFile?: string;
  readonly clientCertificate?: string;
  readonly clientCertificateData?: string;
  readonly clientKey?: string;
  readonly clientKeyData?: string;
  readonly username?: string;
  readonly password?: string;
  readonly as?: string;
  readonly asUid?: string;
  readonly asGroups?: readonly string[];
  readonly exec?: ExecEntry;
  readonly authProvider?: { readonly name: string; readonly config: Readonly<Record<string, unknown>> };
}

/** `users[].user.exec`: a program that prints an ExecCredential. */
export interface ExecEntry {
  readonly apiVersion: string;
  /** Absolute, or a bare name that is looked up on the PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly interactiveMode: 'Never' | 'IfAvailable' | 'Always';
  readonly provideClusterInfo: boolean;
  readonly installHint?: string;
}

export interface ContextEntry {
  readonly cluster?: string;
  readonly user?: string;
}

/** One or several kubeconfigs, merged. */
export interface KubeconfigData {
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
  readonly currentContext: string | undefined;
}

export const EMPTY_KUBECONFIG: KubeconfigData = {
  clusters: new Map(),
  users: new Map(),
  contexts: new Map(),
  currentContext: undefined,
};

/** client-go's rule: of several entries with one name the first file's counts, and its current-context. */
export function mergeKubeconfigs(files: readonly KubeconfigData[]): KubeconfigData {
  const latestFirst = [...files].reverse();
  return {
    clusters: new Map(latestFirst.flatMap((file) => [...file.clusters])),
    users: new Map(latestFirst.flatMap((file) => [...file.users])),
    contexts: new Map(latestFirst.flatMap((file) => [...file.contexts])),
    currentContext: files.map((file) => file.currentContext).find((name) => name !== undefined),
  };
}
