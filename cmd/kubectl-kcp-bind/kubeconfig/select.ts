import { PluginError } from '../errors.js';
import type { ClusterEntry, KubeconfigData, UserEntry } from './config.js';

/** What kubectl's global flags override. */
export interface KubeconfigOverrides {
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
  readonly token?: string | undefined;
  readonly as?: string | undefined;
  readonly asGroup?: readonly string[] | undefined;
  readonly asUid?: string | undefined;
  readonly certificateAuthority?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean | undefined;
  readonly tlsServerName?: string | undefined;
}

/** The cluster and user of one context, overrides applied. */
export interface SelectedConfig {
  /** Absent where flags alone name the server. */
  readonly context: string | undefined;
  readonly cluster: ClusterEntry & { readonly server: string };
  readonly user: UserEntry;
}

/**
 * Chooses cluster and user like kubectl: `--context` else current-context, then `--cluster` and `--user`,
 * then single fields. With `--token` the user's other credentials are left aside.
 *
 * @throws PluginError KUBECONFIG: no context, or a name that the kubeconfig does not define
 */
export function selectConfig(config: KubeconfigData, overrides: KubeconfigOverrides): SelectedConfig {
  const contextName = overrides.context ?? config.currentContext;
  if (contextName === undefined && overrides.server === undefined) {
    throw new PluginError({
      code: 'KUBECONFIG',
      message: 'the kubeconfig has no current context',
      remedy: `choose one with \`kubectl config use-context\` or --context${listNames(config.contexts)}`,
    });
  }
  const context =
    contextName === undefined ? {} : named(config.contexts, contextName, 'context', '--context');
  const clusterName = overrides.cluster ?? context.cluster;
  const userName = overrides.user ?? context.user;
  const cluster =
    clusterName === undefined ? {} : named(config.clusters, clusterName, 'cluster', '--cluster');
  const user = userName === undefined ? {} : named(config.users, userName, 'user', '--user');
  const server = overrides.server ?? cluster.server;
  if (server === undefined) {
    throw new PluginError({
      code: 'KUBECONFIG',
      message: `the kubeconfig names no server${contextName === undefined ? '' : ` for context ${JSON.stringify(contextName)}`}`,
      remedy: 'set clusters[].cluster.server, or name the workspace with --server',
    });
  }
  return {
    context: contextName,
    cluster: { ...overrideCluster(cluster, overrides), server },
    user: overrideUser(user, overrides),
  };
}

function overrideCluster(cluster: ClusterEntry, overrides: KubeconfigOverrides): ClusterEntry {
  const { certificateAuthority, insecureSkipTlsVerify, tlsServerName } = overrides;
  const { certificateAuthorityData, ...rest } = cluster;
  return {
    ...rest,
    ...(certificateAuthority !== undefined
      ? { certificateAuthority }
      : certificateAuthorityData === undefined
        ? {}
        : { certificateAuthorityData }),
    ...(insecureSkipTlsVerify === undefined ? {} : { insecureSkipTlsVerify }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
  };
}

function overrideUser(user: UserEntry, overrides: KubeconfigOverrides): UserEntry {
  const { as, asGroup, asUid, token } = overrides;
  const impersonation = {
    ...(user.as === undefined ? {} : { as: user.as }),
    ...(user.asGroups === undefined ? {} : { asGroups: user.asGroups }),
    ...(user.asUid === undefined ? {} : { asUid: user.asUid }),
    ...(as === undefined ? {} : { as }),
    ...(asGroup === undefined || asGroup.length === 0 ? {} : { asGroups: asGroup }),
    ...(asUid === undefined ? {} : { asUid }),
  };
  return { ...(token === undefined ? user : { token }), ...impersonation };
}

function named<T>(map: ReadonlyMap<string, T>, name: string, kind: string, flag: string): T {
  const found = map.get(name);
  if (found !== undefined) return found;
  throw new PluginError({
    code: 'KUBECONFIG',
    message: `the kubeconfig has no ${kind} ${JSON.stringify(name)}`,
    remedy: `correct ${flag} or the kubeconfig${listNames(map)}`,
  });
}

function listNames(map: ReadonlyMap<string, unknown>): string {
  const names = [...map.keys()].slice(0, 20);
  return names.length === 0 ? '' : ` (there are: ${names.join(', ')})`;
}
