import { parseBackendUrl, connectionNameFor } from '../bind/backend-url.js';
import { readBindOptions, type BindOptions } from '../bind/bind-options.js';
import { readCaFile } from '../bind/ca-file.js';
import { chooseTemplates, type TemplateChoice } from '../bind/choose-templates.js';
import { ensureClientBinding } from '../bind/client-binding.js';
import { ensureConnection, type ConnectionWish } from '../bind/connection.js';
import { plannedClaims } from '../bind/consent.js';
import { plannedObjects, showPlan } from '../bind/dry-run.js';
import { completeLogin, showLoginPage } from '../bind/login.js';
import { nextSteps } from '../bind/next-steps.js';
import { checkProvider } from '../bind/provider-check.js';
import { waitReady } from '../bind/wait-ready.js';
import { ensureBindings } from '../bind/write-bindings.js';
import type { CommandContext, Session } from '../command-context.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { FlagValues } from '../options.js';
import { asObject, type ApiBinding, type Backend, type Binding, type Connection } from '../typed-objects.js';

/** `kubectl kcp bind URL`: from nothing to an API that is served, or from wherever an earlier run ended. */
export async function bind(given: CommandContext, url: string, flags: FlagValues): Promise<number> {
  const options = readBindOptions(flags);
  const context = options.unattended ? { ...given, prompt: { ...given.prompt, available: false } } : given;
  const wish = await connectionWish(context, url, options);
  const session = await context.session();
  if (options.dryRun !== 'none') {
    const planned = await plannedObjects(context, session, options, wish);
    await showPlan(context, session, planned, options.dryRun);
    return EXIT_CODES.ok;
  }
  context.limit(options.timeoutMs);
  context.report.note(`Workspace ${session.address.workspace} (${session.address.server})`);
  if (options.providerCheck) await checkProvider(context, wish.backend);
  const client = await ensureClientBinding(context, session, options.client);
  const parts: Parts = { context, session, options, client };
  return options.wait ? bindAndWait(parts, wish) : bindOnly(parts, wish);
}

interface Parts {
  readonly context: CommandContext;
  readonly session: Session;
  readonly options: BindOptions;
  readonly client: ApiBinding;
}

async function bindAndWait(parts: Parts, wish: ConnectionWish): Promise<number> {
  const { context, session, options, client } = parts;
  const open = await ensureConnection(context, session, wish);
  const connection =
    open.login === undefined ? open.connection : await completeLogin(context, session, open, options);
  if (open.login === undefined) {
    context.report.note(`KubeBindConnection ${connection.metadata.name} is Connected; no login is needed`);
  }
  context.remains(`KubeBindConnection ${connection.metadata.name} is Connected; no template is bound yet`);
  const choice = await chooseTemplates(context, session, connection, options.wish);
  const bindings = await bindingsFor(parts, connection, choice);
  const ready: Binding[] = [];
  for (const binding of bindings) ready.push(await waitReady(context, session, binding, client));
  await show(context, { client, connection, bindings: ready });
  context.report.result(nextSteps(ready));
  return EXIT_CODES.ok;
}

async function bindingsFor(
  parts: Parts,
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
async function bindOnly(parts: Parts, wish: ConnectionWish): Promise<number> {
  const { context, session, options, client } = parts;
  const { acceptance, name, templates } = options.wish;
  const open = await ensureConnection(context, session, wish);
  const { connection } = open;
  const claims = acceptance.kind === 'unsaid' ? undefined : plannedClaims(acceptance);
  const wanted = templates.map((template) => ({ template, name, claims }));
  const bindings = await ensureBindings(context, session, connection.metadata.name, wanted);
  if (open.login !== undefined) await showLoginPage(context, session, open, options);
  await show(context, { client, connection, bindings });
  context.report.result(
    `Created, not waited for. See how it goes with: kubectl kcp bind status ${connection.metadata.name}`,
  );
  return EXIT_CODES.ok;
}

async function show(
  context: CommandContext,
  made: { client: ApiBinding; connection: Connection; bindings: readonly Binding[] },
): Promise<void> {
  await context.report.objects([
    asObject(made.client),
    asObject(made.connection),
    ...made.bindings.map(asObject),
  ]);
}

async function connectionWish(
  context: CommandContext,
  url: string,
  options: BindOptions,
): Promise<ConnectionWish> {
  const parsed = parseBackendUrl(url);
  if (parsed.insecure) {
    context.report.warn(`${parsed.url} is not encrypted: others on the way can read and take over the login`);
  }
  const caBundle = await readCaFile(context, options.caFile);
  const backend: Backend = {
    url: parsed.url,
    ...(options.clusterID === undefined ? {} : { clusterID: options.clusterID }),
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(options.account === undefined ? {} : { account: options.account }),
  };
  return { backend, name: options.connection, derivedName: connectionNameFor(backend) };
}
