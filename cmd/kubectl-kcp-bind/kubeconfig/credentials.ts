import { readFile } from 'node:fs/promises';
import type { ClientAuth, ServerCredentials } from '../../../src/kube/credentials.js';
import { PluginError } from '../errors.js';
import type { UserEntry } from './config.js';
import { runExecPlugin, type ExecSurroundings } from './exec-plugin.js';
import { proxyFor } from './proxy.js';
import type { SelectedConfig } from './select.js';
import type { WorkspaceAddress } from './workspace.js';

/**
 * Obtains what it takes to speak with the workspace as the kubeconfig's user. Runs credential plugins and
 * auth-providers, reads files; changes none.
 *
 * @throws PluginError CREDENTIALS
 */
export async function obtainCredentials(
  selected: SelectedConfig,
  address: WorkspaceAddress,
  surroundings: ExecSurroundings,
): Promise<ServerCredentials> {
  const { cluster, user } = selected;
  const url = new URL(address.server);
  const ca = await fileOrData(cluster.certificateAuthority, cluster.certificateAuthorityData, {
    field: 'certificate-authority',
  });
  const proxyUrl = cluster.proxyUrl ?? proxyFor(url, surroundings.variables);
  return {
    server: address.server,
    auth: await obtainAuth(selected, surroundings),
    ...(ca === undefined ? {} : { ca }),
    ...(cluster.tlsServerName === undefined ? {} : { tlsServerName: cluster.tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(cluster.insecureSkipTlsVerify === true ? { insecureSkipTlsVerify: true } : {}),
    ...(user.as === undefined
      ? {}
      : {
          impersonate: {
            user: user.as,
            ...(user.asGroups === undefined ? {} : { groups: user.asGroups }),
            ...(user.asUid === undefined ? {} : { uid: user.asUid }),
          },
        }),
  };
}

/** Where several are given a certificate counts, as it does for the API server. */
async function obtainAuth(selected: SelectedConfig, surroundings: ExecSurroundings): Promise<ClientAuth> {
  const { cluster, user } = selected;
  const cert = await fileOrData(user.clientCertificate, user.clientCertificateData, {
    field: 'client-certificate',
  });
  const key = await fileOrData(user.clientKey, user.clientKeyData, { field: 'client-key' });
  if (cert !== undefined && key !== undefined) return { kind: 'certificate', cert, key };
  if (user.token !== undefined) return { kind: 'token', token: user.token };
  if (user.tokenFile !== undefined) return { kind: 'tokenFile', path: user.tokenFile };
  if (user.exec !== undefined) {
    const given = await runExecPlugin(user.exec, cluster, surroundings);
    if (given.token !== undefined) return { kind: 'token', token: given.token };
    return {
      kind: 'certificate',
      cert: given.clientCertificateData ?? '',
      key: given.clientKeyData ?? '',
    };
  }
  if (user.authProvider !== undefined) return providerToken(selected, user.authProvider);
  if (user.username !== undefined) {
    throw new PluginError({
      code: 'CREDENTIALS',
      message: 'the kubeconfig uses a user name and password, which Kubernetes no longer takes',
      remedy: 'use a token, a client certificate or a credential plugin',
    });
  }
  return { kind: 'none' };
}

/** The old auth-providers (oidc, gcp, azure) are left to client-node, which is loaded only for them. */
async function providerToken(
  selected: SelectedConfig,
  authProvider: NonNullable<UserEntry['authProvider']>,
): Promise<ClientAuth> {
  const { authProviderToken } = await import('./auth-provider.js');
  try {
    return { kind: 'token', token: await authProviderToken(selected.cluster, authProvider) };
  } catch (error) {
    throw new PluginError({
      code: 'CREDENTIALS',
      message: `the kubeconfig's auth-provider ${JSON.stringify(authProvider.name)} gave no token`,
      remedy: 'log in again with the tool that wrote the kubeconfig, or use a credential plugin (exec)',
      cause: error,
    });
  }
}

async function fileOrData(
  path: string | undefined,
  data: string | undefined,
  what: { readonly field: string },
): Promise<string | undefined> {
  // client-go's rule: data wins over the file.
  if (data !== undefined) return Buffer.from(data, 'base64').toString('utf8');
  if (path === undefined) return undefined;
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new PluginError({
      code: 'CREDENTIALS',
      message: `the kubeconfig's ${what.field} ${path} cannot be read`,
      remedy: 'correct the path or the permissions of the file',
      cause: error,
    });
  }
}
