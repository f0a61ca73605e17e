import { offersForStatus } from '../../../src/reconcilers/connection/offers.js';
import { chooseTemplates } from '../bind/choose-templates.js';
import type { ConnectionWish } from '../bind/connection.js';
import { finish, type BindParts } from '../bind/finish.js';
import { isLeaving, sameAccount } from '../bind/same-backend.js';
import { ensureBindings } from '../bind/write-bindings.js';
import type { CommandContext, Session } from '../command-context.js';
import { loginLocally } from '../local-login/local-login.js';
import { listConnections } from '../objects.js';
import type { Backend, Connection } from '../typed-objects.js';
import { readAccount, storeAccount, type StoredAccount } from './account-secret.js';
import { checkProviderKubeconfig, kubeconfigOf } from './provider-kubeconfig.js';
import { requestExports } from './provider-exports.js';
import {
  backendAnnotations,
  ensureSecretConnection,
  findSecretConnection,
  localBackend,
} from './secret-connection.js';

/** The connection that an earlier handshake from a user's machine has made to the same account. */
export async function findLocal(
  context: CommandContext,
  session: Session,
  wish: ConnectionWish,
): Promise<Connection | undefined> {
  const connections = (await listConnections(session.client, context.signal)) ?? [];
  return connections.find((connection) => {
    const backend = localBackend(connection);
    if (backend === undefined || isLeaving(connection) || !sameAccount(backend, wish.backend)) return false;
    return wish.name === undefined || wish.name === connection.metadata.name;
  });
}

/**
 * `--handshake=local`: the plugin logs in from this machine, keeps identity and kubeconfig in a Secret of the
 * workspace, asks the provider for the exports itself, and makes a connection to that Secret. Logs in only where the
 * Secret has no account yet, or does not know a template that is asked for.
 */
export async function bindLocally(parts: BindParts, wish: ConnectionWish): Promise<number> {
  const { context, options, session } = parts;
  const known = await findLocal(context, session, wish);
  const name = known?.metadata.name ?? wish.name ?? wish.derivedName;
  // A name that is taken is told before anybody logs in.
  await findSecretConnection(context, session, name);
  const stored = await ensureIdentity(context, session, { name, backend: wish.backend });
  const offered = new Set((stored.offers ?? []).map(({ template }) => template));
  const missing = options.wish.templates.filter((template) => !offered.has(template));
  const isWhole = stored.kubeconfig !== undefined && offered.size > 0 && missing.length === 0;
  if (isWhole) context.report.note(`KubeBindConnection ${name} has an account; no login is needed`);
  const account = isWhole
    ? stored
    : await renewAccount(context, session, { name, backend: wish.backend, stored, options });
  const connection = await ensureSecretConnection(context, session, {
    name,
    backend: wish.backend,
    wait: options.wait,
  });
  context.remains(`KubeBindConnection ${name} is there; no template is bound yet`);
  const offers = account.offers ?? [];
  const choice = await chooseTemplates(context, session, withOffers(connection, account), options.wish);
  if (choice.kind === 'adopted') return finish(parts, connection, choice.bindings);
  const credentials = checkProviderKubeconfig(
    account.kubeconfig ?? '',
    `the kubeconfig of connection ${name}`,
  );
  const wanted = new Set(choice.wanted.map(({ template }) => template));
  const requested = offers.filter(({ template }) => wanted.has(template));
  await requestExports(context, credentials, requested);
  return finish(parts, connection, await ensureBindings(context, session, name, choice.wanted));
}

/** The connection as if its status held the offers, which the controller does not know here. */
export function withOffers(connection: Connection, account: StoredAccount): Connection {
  return {
    ...connection,
    status: { ...connection.status, offers: offersForStatus(account.offers ?? []) },
  };
}

/** The identity is stored before it is used, so that a run that is cut off leaves no second account. */
async function ensureIdentity(
  context: CommandContext,
  session: Session,
  target: { readonly name: string; readonly backend: Backend },
): Promise<StoredAccount & { readonly identity: string }> {
  const stored = await readAccount(context, session, target.name);
  if (stored?.identity !== undefined) return { ...stored, identity: stored.identity };
  const identity = Buffer.from(context.effects.randomBytes(32)).toString('base64url');
  await storeAccount(context, session, target.name, {
    account: { identity },
    annotations: backendAnnotations(target.backend),
  });
  return { ...stored, identity };
}

/** Logs in and stores what came of it. */
export async function renewAccount(
  context: CommandContext,
  session: Session,
  target: {
    readonly name: string;
    readonly backend: Backend;
    readonly stored: StoredAccount & { readonly identity: string };
    readonly options: { readonly browser: boolean; readonly callbackPort: number };
  },
): Promise<StoredAccount> {
  const { backend, name, options, stored } = target;
  context.remains(`connection ${name} has no account yet`);
  const made = await loginLocally(context, {
    backend,
    identity: stored.identity,
    browser: options.browser,
    callbackPort: options.callbackPort,
  });
  const credentials = checkProviderKubeconfig(made.kubeconfig, 'the kubeconfig that the provider gave');
  const account = { identity: stored.identity, kubeconfig: kubeconfigOf(credentials), offers: made.offers };
  await storeAccount(context, session, name, { account });
  return account;
}
