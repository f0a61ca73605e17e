import { PluginError } from '../errors.js';

/** A kcp workspace as a kubeconfig's server names it. */
export interface WorkspaceAddress {
  /** `https://host[:port][/prefix]`, without a trailing slash. */
  readonly base: string;
  /** What follows `/clusters/`: a path (`root:org:team`) or a logical cluster's name. */
  readonly workspace: string;
  /** `base` + `/clusters/` + `workspace`. */
  readonly server: string;
}

const WORKSPACE = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(:[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** A workspace path, or a logical cluster's name. */
export function isWorkspace(text: string): boolean {
  return text.length <= 2048 && WORKSPACE.test(text);
}

/**
 * Finds the workspace in a server's URL, or puts the one of `--workspace` there.
 *
 * @throws PluginError WORKSPACE when the URL names none; USAGE for a malformed `--workspace`
 */
export function resolveWorkspace(server: string, override?: string): WorkspaceAddress {
  const url = parseServer(server);
  const [, prefix = '', named] = /^(.*?)(?:\/clusters\/(.*))?$/s.exec(url.pathname) ?? [];
  const base = url.origin + prefix.replace(/\/+$/, '');
  if (override !== undefined && !isWorkspace(override)) {
    throw new PluginError({
      code: 'USAGE',
      message: `--workspace ${JSON.stringify(override)} is no workspace`,
      remedy: 'give an absolute path like root:org:team, or the name of a logical cluster',
    });
  }
  const workspace = override ?? named?.replace(/\/+$/, '');
  if (workspace === undefined || workspace === '') {
    throw notAWorkspace(
      `the kubeconfig's server ${url.href} names no kcp workspace: it has no /clusters/<workspace>`,
    );
  }
  if (!isWorkspace(workspace) || prefix.startsWith('/services/')) {
    throw notAWorkspace(`the kubeconfig's server ${url.href} does not name one kcp workspace`);
  }
  return { base, workspace, server: `${base}/clusters/${workspace}` };
}

function parseServer(server: string): URL {
  const text = server.includes('://') ? server : `https://${server}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new PluginError({
      code: 'KUBECONFIG',
      message: `the kubeconfig's server ${JSON.stringify(server)} is no https URL without user name`,
      remedy: 'correct clusters[].cluster.server or --server',
    });
  }
  return url;
}

function notAWorkspace(message: string): PluginError {
  return new PluginError({
    code: 'WORKSPACE',
    message,
    remedy:
      'enter a workspace with `kubectl ws`, choose another context with --context, or name it with --workspace root:org:team',
  });
}
