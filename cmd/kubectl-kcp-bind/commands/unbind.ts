import { BINDINGS, CONNECTIONS } from '../../../src/api/group.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { accountSecretName, removeAccount, SECRET_NAMESPACE } from '../account/account-secret.js';
import { explainBinding, explainConnection } from '../bind/explain.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { dryRunFlag, switchFlag, timeoutFlag } from '../flag-values.js';
import { listBindings, listConnections } from '../objects.js';
import type { FlagValues } from '../options.js';
import { isYes } from '../output/prompt.js';
import { asBinding, asConnection, asObject } from '../typed-objects.js';
import { planRemoval, removalLines, type RemovalOptions, type RemovalPlan } from '../unbind/removal-plan.js';
import { startRemoval, waitGone, type Removal } from '../unbind/remove.js';

/** `kubectl kcp bind unbind NAME…`: shows what goes, asks, deletes, waits. */
export async function unbind(context: CommandContext, operand: unknown, flags: FlagValues): Promise<number> {
  const names = Array.isArray(operand)
    ? operand.filter((name): name is string => typeof name === 'string')
    : [];
  const options: RemovalOptions = {
    orphan: switchFlag(flags, 'orphan', false),
    force: switchFlag(flags, 'force', false),
    connections: switchFlag(flags, 'withConnection', flags['connection'] === true),
  };
  const timeoutMs = timeoutFlag(flags);
  const session = await context.session();
  const connections = (await listConnections(session.client, context.signal)) ?? [];
  const bindings = (await listBindings(session.client, context.signal)) ?? [];
  const plan = planRemoval(names, { bindings, connections }, options);
  checkPlan(plan, options);
  const lines = removalLines(plan, connections, options);
  const removals = removalsOf(plan, options);
  if (dryRunFlag(flags) !== 'none') {
    if (!(await context.report.objects(removals.map(({ object }) => object)))) {
      context.report.result([...lines, 'Nothing was deleted (dry run)'].join('\n'));
    }
    return EXIT_CODES.ok;
  }
  for (const line of lines) context.report.note(line);
  if (!switchFlag(flags, 'yes', false)) await confirm(context);
  context.limit(timeoutMs);
  const wait = switchFlag(flags, 'wait', true);
  await removeAll(context, session, removals, wait);
  if (wait) await removeAccounts(context, session, plan);
  return EXIT_CODES.ok;
}

/** Bindings first: a connection stays until the last of its bindings is gone. */
async function removeAll(
  context: CommandContext,
  session: Session,
  removals: readonly Removal[],
  wait: boolean,
): Promise<void> {
  for (const group of [removals.filter(isBinding), removals.filter((removal) => !isBinding(removal))]) {
    for (const removal of group) await startRemoval(context, session, removal);
    if (!wait) continue;
    for (const removal of group) await waitGone(context, session, removal, whatHolds);
  }
  if (await context.report.objects(removals.map(({ object }) => object))) return;
  for (const { object } of removals) {
    context.report.result(`${object.kind} ${object.metadata.name} ${wait ? 'is gone' : 'is being deleted'}`);
  }
}

/** Last: the controller may need the credentials until the connection is gone. */
async function removeAccounts(context: CommandContext, session: Session, plan: RemovalPlan): Promise<void> {
  for (const { metadata, spec } of plan.connections) {
    const name = accountSecretName(metadata.name);
    if (spec.kubeconfigSecretRef?.name !== name) continue;
    if (await removeAccount(context, session, name)) {
      context.report.note(`Deleted the credentials in Secret ${SECRET_NAMESPACE}/${name}`);
    }
  }
}

function checkPlan(plan: RemovalPlan, options: RemovalOptions): void {
  if (plan.unknown.length > 0) {
    throw new PluginError({
      code: 'NOT_FOUND',
      message: `this workspace has no binding ${plan.unknown.map((name) => JSON.stringify(name)).join(', ')}; nothing was deleted`,
      remedy: options.connections
        ? 'see `kubectl kcp bind list`'
        : 'see `kubectl kcp bind list`; to remove a connection add --with-connection',
    });
  }
}

function removalsOf(plan: RemovalPlan, options: RemovalOptions): Removal[] {
  const { force, orphan } = options;
  return [
    ...plan.bindings.map((binding) => ({ gvr: BINDINGS, object: asObject(binding), force, orphan })),
    ...plan.connections.map((connection) => ({
      gvr: CONNECTIONS,
      object: asObject(connection),
      force,
      orphan: false,
    })),
  ];
}

async function confirm(context: CommandContext): Promise<void> {
  if (!context.prompt.available) {
    throw new PluginError({
      code: 'DECLINED',
      message: 'nobody is there to confirm the deletion; nothing was deleted',
      remedy: 'add --yes',
    });
  }
  if (!isYes(await context.prompt.ask('Delete this? [y/N] ', context.signal))) {
    throw new PluginError({
      code: 'DECLINED',
      message: 'not confirmed; nothing was deleted',
      remedy: 'answer y, or add --yes',
    });
  }
}

function isBinding(removal: Removal): boolean {
  return removal.gvr === BINDINGS;
}

function whatHolds(object: KubeObject): string {
  const standing =
    object.kind === 'KubeBindBinding'
      ? explainBinding(asBinding(object))
      : explainConnection(asConnection(object));
  return 'why' in standing ? standing.why : 'the controller has not begun yet';
}
