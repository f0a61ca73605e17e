import type { Offer } from '../../../src/api/offer.js';
import { GVR } from '../../../src/api/gvr.js';
import { ensureExportRequest } from '../../../src/backend/provider/ensure-export.js';
import { KubeError } from '../../../src/kube/errors.js';
import type { KubeClient } from '../../../src/kube/client.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';
import type { ProviderCredentials } from './provider-kubeconfig.js';

/** Short: the binding itself waits as long as it takes. */
const WAIT_MS = 30_000;
const MAX_EXPORTS = 100;

/**
 * Asks the provider to export templates to an account, each as a request of the template's name. What is exported
 * already stays as it is.
 *
 * @throws PluginError PROVIDER with what the provider says; one that only takes its time is left to the binding
 */
export async function requestExports(
  context: CommandContext,
  credentials: ProviderCredentials,
  offers: readonly Offer[],
): Promise<void> {
  await withProvider(context, credentials, async (client) => {
    for (const offer of offers) {
      const name = printable(offer.template, 100);
      const phase = context.report.progress.phase(`Asking the provider to export ${name}`);
      const plan = {
        name: offer.template,
        create: {
          resources: offer.resources,
          permissionClaims: offer.permissionClaims.map(({ group, resource, selector }) => ({
            // The core group is no group in the protocol.
            ...(group === '' ? {} : { group }),
            resource,
            selector,
          })),
          namespaces: offer.namespaces ?? [],
          schemaUpdatePolicy: offer.schemaUpdatePolicy ?? ('Never' as const),
        },
      };
      const contract = { client, namespace: credentials.namespace };
      const { clock } = context.effects;
      const outcome = await ensureExportRequest(contract, plan, {
        clock,
        signal: context.signal,
        deadlineMs: WAIT_MS,
      });
      if (outcome.reason === 'ExportReady') phase.done(`The provider exports ${name}`);
      else if (outcome.reason === 'RequestPending')
        phase.done(`The provider has been asked to export ${name}`);
      else {
        phase.failed();
        throw new PluginError({
          code: 'PROVIDER',
          message: printable(outcome.message, 600),
          remedy: 'do what the message says, then run the same command again',
        });
      }
    }
  });
}

/**
 * Names of what the provider exports to an account; undefined where it cannot be asked from here.
 */
export async function listExports(
  context: CommandContext,
  credentials: ProviderCredentials,
): Promise<string[] | undefined> {
  try {
    return await withProvider(context, credentials, async (client) => {
      const { namespace } = credentials;
      const { items } = await client.list(GVR.exports, {
        namespace,
        limit: MAX_EXPORTS,
        signal: context.signal,
      });
      return items.map(({ metadata }) => metadata.name).sort();
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof PluginError) return undefined;
    throw error;
  }
}

async function withProvider<T>(
  context: CommandContext,
  credentials: ProviderCredentials,
  work: (client: KubeClient) => Promise<T>,
): Promise<T> {
  let client: KubeClient | undefined;
  try {
    client = await context.effects.connect(credentials);
    return await work(client);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof KubeError)) throw error;
    throw new PluginError({
      code: 'PROVIDER',
      message: `the provider's API server ${credentials.server} does not do what was asked: ${printable(error.message, 300)}`,
      remedy:
        'check that this machine reaches it and that the account is still good, then run the command again',
      cause: error,
    });
  } finally {
    await client?.close();
  }
}
