// Deep import: the package's index would bring 16 MB of generated API classes into the bundle.
import { KubeConfig } from '@kubernetes/client-node/dist/config.js';
import type { RequestOptions } from 'node:https';
import type { ClusterEntry, UserEntry } from './config.js';

/**
 * Asks client-node for the token of a user with an `auth-provider` (refreshing it where the provider can).
 *
 * @throws Error when the provider is unknown or gives none
 */
export async function authProviderToken(
  cluster: ClusterEntry & { readonly server: string },
  authProvider: NonNullable<UserEntry['authProvider']>,
): Promise<string> {
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'selected',
      server: cluster.server,
      skipTLSVerify: cluster.insecureSkipTlsVerify ?? false,
      ...(cluster.certificateAuthority === undefined ? {} : { caFile: cluster.certificateAuthority }),
      ...(cluster.certificateAuthorityData === undefined ? {} : { caData: cluster.certificateAuthorityData }),
    },
    { name: 'selected', authProvider: { name: authProvider.name, config: authProvider.config } },
  );
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const header = new Headers(options.headers as Record<string, string> | undefined).get('authorization');
  const token = /^Bearer (\S+)$/.exec(header ?? '')?.[1];
  if (token === undefined) throw new Error(`auth-provider ${authProvider.name} gave no bearer token`);
  return token;
}
