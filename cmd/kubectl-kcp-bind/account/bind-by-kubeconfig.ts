import type { KubeObject } from '../../../src/kube/object.js';
import { connectionNameFor, parseBackendUrl } from '../bind/backend-url.js';
import type { BindOptions } from '../bind/bind-options.js';
import { ensureClientBinding, findClientBinding } from '../bind/client-binding.js';
import { answerClaims, SHIPPED_CLAIMS } from '../bind/client-claims.js';
import { plannedClaims } from '../bind/consent.js';
import { showPlan } from '../bind/dry-run.js';
import { finish } from '../bind/finish.js';
import { apiBindingManifest, bindingManifest, resourceBindingManifest } from '../bind/manifests.js';
import { ensureBindings } from '../bind/write-bindings.js';
import { ensureResourceBinding } from '../bind/resource-binding.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { printable } from '../output/printable.js';
import type { Binding } from '../typed-objects.js';
import { accountSecret, storeAccount } from './account-secret.js';
import { listExports } from './provider-exports.js';
import {
  checkProviderKubeconfig,
  kubeconfigOf,
  readKubeconfigInput,
  type ProviderCredentials,
} from './provider-kubeconfig.js';
import {
  ensureSecretConnection,
  findSecretConnection,
  secretConnectionManifest,
} from './secret-connection.js';

interface Given {
  /** Only names the connection. */
  readonly url: string | undefined;
  /** `-` is standard input. */
  readonly file: string;
  readonly options: BindOptions;
}

/**
 * `kubectl kcp bind --kubeconfig-file FILE`: credentials that the provider made elsewhere go into a Secret of the
 * workspace, and a connection uses them. Run again with another kubeconfig it renews them.
 */
export async function bindByKubeconfig(given: CommandContext, input: Given): Promise<number> {
  const { file, options } = input;
  const context = file === '-' ? { ...given, prompt: { ...given.prompt, available: false } } : given;
  const text = await readKubeconfigInput(context, file);
  const credentials = checkProviderKubeconfig(text, `--kubeconfig-file ${file}`);
  const name = options.connection ?? connectionName(credentials, input.url);
  const account = { kubeconfig: kubeconfigOf(credentials) };
  const session = await context.session();
  if (options.dryRun !== 'none') {
    await showPlan(
      context,
      session,
      await planned(context, session, { name, account, options }),
      options.dryRun,
    );
    return EXIT_CODES.ok;
  }
  context.limit(options.timeoutMs);
  context.report.note(`Workspace ${session.address.workspace} (${session.address.server})`);
  const client = await ensureClientBinding(context, session, options.client);
  await findSecretConnection(context, session, name);
  const templates = options.resources.length > 0 ? [] : await chooseExports(context, credentials, options);
  await storeAccount(context, session, name, { account });
  const connection = await ensureSecretConnection(context, session, {
    name,
    backend: undefined,
    wait: options.wait,
  });
  context.remains(`KubeBindConnection ${name} is there; nothing is bound yet`);
  const bindings = await makeBindings(context, session, { name, templates, options });
  return finish({ context, session, options, client }, connection, bindings);
}

function connectionName(credentials: ProviderCredentials, url: string | undefined): string {
  if (url !== undefined) return connectionNameFor({ url: parseBackendUrl(url).url });
  // One provider gives each account a namespace of its own.
  return connectionNameFor({ url: credentials.server, account: credentials.namespace });
}

/** What to bind: `--template`, else what the provider has exported to this account. */
async function chooseExports(
  context: CommandContext,
  credentials: ProviderCredentials,
  options: BindOptions,
): Promise<readonly string[]> {
  if (options.wish.templates.length > 0) return options.wish.templates;
  const exports = await listExports(context, credentials);
  const shown = (exports ?? []).map((name) => printable(name, 100));
  if (shown.length === 0 || !context.prompt.available) {
    throw new PluginError({
      code: 'USAGE',
      message:
        exports === undefined
          ? 'which API? The provider could not be asked from here what it exports to this account'
          : `which API? The provider exports to this account: ${shown.join(', ') || 'nothing yet'}`,
      remedy:
        'say it with --template NAME of an export or request there, or --resource databases.v1.example.org',
    });
  }
  context.report.progress.line(`The provider exports to this account: ${shown.join(', ')}`);
  const answer = await context.prompt.ask('Bind which? (names, Enter for none) ', context.signal);
  const names = answer.split(/[\s,]+/).filter((part) => part !== '');
  const unknown = names.find((name) => exports?.includes(name) !== true);
  if (names.length > 0 && unknown === undefined) return names;
  throw new PluginError({
    code: unknown === undefined ? 'DECLINED' : 'NOT_FOUND',
    message:
      unknown === undefined
        ? 'nothing was chosen, so nothing is bound'
        : `there is no ${JSON.stringify(unknown)} in the list`,
    remedy: 'run the command again to choose',
  });
}

async function makeBindings(
  context: CommandContext,
  session: Session,
  wanted: { readonly name: string; readonly templates: readonly string[]; readonly options: BindOptions },
): Promise<readonly Binding[]> {
  const { acceptance, name } = wanted.options.wish;
  const claims = acceptance.kind === 'unsaid' ? undefined : plannedClaims(acceptance);
  if (wanted.options.resources.length > 0) {
    const { resources } = wanted.options;
    return [await ensureResourceBinding(context, session, { connection: wanted.name, name, resources })];
  }
  const templates = wanted.templates.map((template) => ({ template, name, claims }));
  return ensureBindings(context, session, wanted.name, templates);
}

async function planned(
  context: CommandContext,
  session: Session,
  wanted: {
    readonly name: string;
    readonly account: { readonly kubeconfig: string };
    readonly options: BindOptions;
  },
): Promise<KubeObject[]> {
  const { account, name, options } = wanted;
  const client = await findClientBinding(context, session, options.client);
  const claims = answerClaims(SHIPPED_CLAIMS, { apiBindings: options.client.apiBindingsClaim });
  const existing = await findSecretConnection(context, session, name);
  const { resources } = options;
  return [
    ...(client.kind === 'absent'
      ? [apiBindingManifest({ name: client.name, export: options.client.reference, claims })]
      : []),
    accountSecret(name, { account }),
    ...(existing === undefined ? [secretConnectionManifest(name, undefined)] : []),
    ...options.wish.templates.map((template) =>
      bindingManifest({
        name: options.wish.name ?? template,
        connection: name,
        template,
        claims: plannedClaims(options.wish.acceptance),
      }),
    ),
    ...(resources.length === 0
      ? []
      : [
          resourceBindingManifest({
            name: options.wish.name ?? resources[0]?.resource ?? '',
            connection: name,
            resources,
          }),
        ]),
  ];
}
