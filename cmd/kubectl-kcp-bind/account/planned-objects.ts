import type { KubeObject } from '../../../src/kube/object.js';
import type { BindOptions } from '../bind/bind-options.js';
import type { ConnectionWish } from '../bind/connection.js';
import { plannedClaims } from '../bind/consent.js';
import { bindingManifest } from '../bind/manifests.js';
import { plannedClient } from '../bind/planned-client.js';
import type { CommandContext, Session } from '../command-context.js';
import { accountSecretName, SECRET_NAMESPACE } from './account-secret.js';
import { findLocal } from './bind-locally.js';
import { secretConnectionManifest } from './secret-connection.js';

/**
 * What a handshake from this machine would create, but for the Secret: its content comes of the login. Reads the
 * workspace, writes nothing.
 */
export async function plannedAccountObjects(
  context: CommandContext,
  session: Session,
  options: BindOptions,
  wish: ConnectionWish,
): Promise<KubeObject[]> {
  const objects = await plannedClient(context, session, options.client);
  const known = await findLocal(context, session, wish);
  const name = known?.metadata.name ?? wish.name ?? wish.derivedName;
  if (known === undefined) objects.push(secretConnectionManifest(name, wish.backend));
  context.report.note(
    `Secret ${SECRET_NAMESPACE}/${accountSecretName(name)} is not shown: its content comes of the login`,
  );
  for (const template of options.wish.templates) {
    objects.push(
      bindingManifest({
        name: options.wish.name ?? template,
        connection: name,
        template,
        claims: plannedClaims(options.wish.acceptance),
      }),
    );
  }
  return objects;
}
