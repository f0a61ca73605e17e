import type { Effects, Session } from '../command-context.js';
import type { Environment } from '../environment.js';
import type { GlobalOptions } from '../options.js';
import { obtainCredentials } from './credentials.js';
import { loadKubeconfig } from './load.js';
import { selectConfig } from './select.js';
import { resolveWorkspace } from './workspace.js';

/**
 * Reads the kubeconfig, obtains credentials and makes a client for the workspace that it names. No request is
 * made yet. The caller closes the client.
 *
 * @throws PluginError KUBECONFIG, WORKSPACE, CREDENTIALS
 */
export async function openSession(
  environment: Environment,
  effects: Pick<Effects, 'connect'>,
  globals: GlobalOptions,
  signal: AbortSignal,
): Promise<Session> {
  const config = await loadKubeconfig(environment, globals.kubeconfig);
  const selected = selectConfig(config, globals);
  const address = resolveWorkspace(selected.cluster.server, globals.workspace);
  const credentials = await obtainCredentials(selected, address, {
    variables: environment.variables,
    interactive: environment.interactive,
    showError: (text) => environment.stderr.write(text),
    signal,
  });
  return { client: await effects.connect(credentials), address, credentials };
}
