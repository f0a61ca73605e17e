import { bindByKubeconfig } from '../account/bind-by-kubeconfig.js';
import { bindLocally, findLocal } from '../account/bind-locally.js';
import { plannedAccountObjects } from '../account/planned-objects.js';
import { readBindOptions } from '../bind/bind-options.js';
import { chooseTemplates, type TemplateChoice } from '../bind/choose-templates.js';
import { ensureClientBinding } from '../bind/client-binding.js';
import { rejectsSecrets } from '../bind/client-claims.js';
import { ensureConnection, type ConnectionWish } from '../bind/connection.js';
import { readConnectionWish, withKnownAuthority } from '../bind/connection-wish.js';
import { plannedClaims } from '../bind/consent.js';
import { plannedObjects, showPlan } from '../bind/dry-run.js';
import { finish, type BindParts } from '../bind/finish.js';
import { completeLogin, showLoginPage } from '../bind/login.js';
import { checkProvider } from '../bind/provider-check.js';
import { withdrawConnection } from '../bind/withdraw-connection.js';
import { ensureBindings } from '../bind/write-bindings.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { FlagValues } from '../options.js';
import { printable } from '../output/printable.js';
import type { Binding, Connection } from '../typed-objects.js';

/** `kubectl kcp bind [URL]`: from nothing to an API that is served, or from wherever an earlier run ended. */
export async function bind(
  given: CommandContext,
  url: string | undefined,
  flags: FlagValues,
): Promise<number> {
  const options = readBindOptions(flags);
  const context = options.unattended ? { ...given, prompt: { ...given.prompt, available: false } } : given;
  if (options.kubeconfigFile !== undefined) {
    return bindByKubeconfig(context, { url, file: options.kubeconfigFile, options });
  }
  const wished = await readConnectionWish(context, url ?? '', options);
  const session = await context.session();
  const wish = await withKnownAuthority(context, session, wished);
  const local = options.handshake === 'local' || (await findLocal(context, session, wish)) !== undefined;
  if (options.dryRun !== 'none') {
    const planned = local
      ? await plannedAccountObjects(context, session, options, wish)
      : await plannedObjects(context, session, options, wish);
    await showPlan(context, session, planned, options.dryRun);
    return EXIT_CODES.ok;
  }
  context.limit(options.timeoutMs);
  context.report.note(`Workspace ${session.address.workspace} (${session.address.server})`);
  // Without an answer the handshake from here is none.
  if (options.providerCheck && !local) await checkProvider(context, wish.backend);
  const client = await ensureClientBinding(context, session, options.client);
  const parts: BindParts = { context, session, options, client };
  if (local) return bindLocally(parts, wish);
  return options.wait ? bindAndWait(parts, wish) : bindOnly(parts, wish);
}

async function bindAndWait(parts: BindParts, wish: ConnectionWish): Promise<number> {
  const { context, options, session } = parts;
  const connection = await connectByController(parts, wish);
  if (connection === undefined) return bindLocally(parts, wish);
  context.remains(`KubeBindConnection ${connection.metadata.name} is Connected; no template is bound yet`);
  const choice = await chooseTemplates(context, session, connection, options.wish);
  return finish(parts, connection, await bindingsFor(parts, connection, choice));
}

/** Undefined where the controller serves no login pages and the user did not insist on them. */
async function connectByController(
  { context, session, options, client }: BindParts,
  wish: ConnectionWish,
): Promise<Connection | undefined> {
  const open = await ensureConnection(context, session, wish);
  const { connection, login } = open;
  if (login === undefined) {
    context.report.note(`KubeBindConnection ${connection.metadata.name} is Connected; no login is needed`);
    return connection;
  }
  try {
    return await completeLogin(context, session, open, options);
  } catch (error) {
    const noPages = error instanceof PluginError && error.code === 'NO_LOGIN_PAGES';
    // What a handshake from here leaves behind is a Secret, which the controller then has to read.
    if (!noPages || options.handshake !== undefined || rejectsSecrets(client)) throw error;
    context.report.note(`The controller publishes no login page (${printable(error.message, 300)})`);
    context.report.note('Making the handshake from this machine instead (--handshake=local)');
    await withdrawConnection(context, session, connection);
    return undefined;
  }
}

async function bindingsFor(
  parts: BindParts,
  connection: Connection,
  choice: TemplateChoice,
): Promise<readonly Binding[]> {
  if (choice.kind === 'wanted') {
    return ensureBindings(parts.context, parts.session, connection.metadata.name, choice.wanted);
  }
  const names = choice.bindings.map((binding) => binding.metadata.name).join(', ');
  parts.context.report.note(`Going on with the bindings that exist: ${names}`);
  return choice.bindings;
}

/** `--no-wait`: the controller does the rest when somebody has logged in. */
async function bindOnly(parts: BindParts, wish: ConnectionWish): Promise<number> {
  const { context, options, session } = parts;
  const { acceptance, name, templates } = options.wish;
  const open = await ensureConnection(context, session, wish);
  const { connection } = open;
  const claims = acceptance.kind === 'unsaid' ? undefined : plannedClaims(acceptance);
  const wanted = templates.map((template) => ({ template, name, claims }));
  const bindings = await ensureBindings(context, session, connection.metadata.name, wanted);
  if (open.login !== undefined) await showLoginPage(context, session, open, options);
  return finish(parts, connection, bindings);
}
