import type { KubeObject } from '../../../src/kube/object.js';
import type { CommandContext, Session } from '../command-context.js';
import { findClientBinding, type ClientBindingOptions } from './client-binding.js';
import { answerClaims, SHIPPED_CLAIMS } from './client-claims.js';
import { apiBindingManifest } from './manifests.js';

/** The APIBinding to the client export that a run would create; none where the workspace has one. */
export async function plannedClient(
  context: CommandContext,
  session: Session,
  options: ClientBindingOptions,
): Promise<KubeObject[]> {
  const client = await findClientBinding(context, session, options);
  if (client.kind !== 'absent') return [];
  const claims = answerClaims(SHIPPED_CLAIMS, { apiBindings: options.apiBindingsClaim });
  return [apiBindingManifest({ name: client.name, export: options.reference, claims })];
}
