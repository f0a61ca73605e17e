import { differences, type Difference } from '../install/difference.js';
import { installedObjects, type InstalledObject } from '../install/manifests.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { JsonValue } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { dryRunFlag, switchFlag } from '../flag-values.js';
import type { FlagValues } from '../options.js';
import { objectName } from '../output/documents.js';
import { isYes } from '../output/prompt.js';
import { printable } from '../output/printable.js';

const FIELD_MANAGER = 'kubectl-kcp-bind';
const MAX_SHOWN = 200;
const SERVED_ATTEMPTS = 10;
const SERVED_PAUSE_MS = 500;

interface Change extends InstalledObject {
  readonly differences: readonly Difference[];
  readonly exists: boolean;
}

/**
 * `kubectl kcp bind install`: makes the current workspace the client's, as `kubectl apply -k apiexport` does, after
 * showing what differs.
 */
export async function install(
  context: CommandContext,
  _operand: unknown,
  flags: FlagValues,
): Promise<number> {
  const wanted = installedObjects(context.environment.manifests);
  const session = await context.session();
  const changes: Change[] = [];
  for (const one of wanted) {
    const change = await compare(context, session, one);
    if (change !== undefined) changes.push(change);
  }
  const dryRun = dryRunFlag(flags) !== 'none';
  if (changes.length === 0 || dryRun) {
    if (!(await context.report.objects((dryRun ? changes : wanted).map(({ object }) => object)))) {
      const end = changes.length === 0 ? 'The installation is up to date' : 'Nothing was changed (dry run)';
      context.report.result([...changes.flatMap(describe), end].join('\n'));
    }
    return EXIT_CODES.ok;
  }
  context.report.note(`Installing the kube-bind client into workspace ${session.address.workspace}:`);
  for (const line of changes.flatMap(describe)) context.report.note(line);
  if (!switchFlag(flags, 'yes', false)) await confirm(context);
  const made: KubeObject[] = [];
  for (const change of changes) {
    context.remains(`${made.length} of ${changes.length} objects are applied`);
    made.push(await apply(context, session, change));
  }
  if (!(await context.report.objects(made))) {
    context.report.result(
      `${made.length} objects applied. Now start the controller with a kubeconfig of ServiceAccount kube-bind/kcp-bind-controller (docs/installation.md)`,
    );
  }
  return EXIT_CODES.ok;
}

async function compare(
  context: CommandContext,
  session: Session,
  wanted: InstalledObject,
): Promise<Change | undefined> {
  const { gvr, object } = wanted;
  const { name, namespace } = object.metadata;
  try {
    const target = { name, ...(namespace === undefined ? {} : { namespace }) };
    const is = await session.client.get(gvr, target, { signal: context.signal });
    const found = differences(object, is);
    if (found.length === 0) return undefined;
    if (object.kind === 'APIResourceSchema') throw immutable(name);
    return { ...wanted, differences: found, exists: true };
  } catch (error) {
    if (isStatus(error, 404)) return { ...wanted, differences: [], exists: false };
    throw error;
  }
}

/** Server-side apply, so that what others have added stays. A namespace's objects are refused for a moment after it was made. */
async function apply(context: CommandContext, session: Session, change: Change): Promise<KubeObject> {
  const { gvr, object } = change;
  const { name, namespace } = object.metadata;
  const target = { name, ...(namespace === undefined ? {} : { namespace }) };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await session.client.patch(gvr, target, 'apply', object, {
        fieldManager: FIELD_MANAGER,
        force: true,
        signal: context.signal,
      });
    } catch (error) {
      if (!isStatus(error, 404) || attempt === SERVED_ATTEMPTS) throw error;
      await context.effects.clock.sleep(SERVED_PAUSE_MS, context.signal);
    }
  }
}

function describe(change: Change): string[] {
  const name = objectName(change.object);
  if (!change.exists) return [`+ ${name}`];
  return [
    `~ ${name}`,
    ...change.differences.flatMap(({ is, path, wanted }) => [
      ...(is === undefined ? [] : [`    - ${path}: ${text(is)}`]),
      `    + ${path}: ${text(wanted)}`,
    ]),
  ];
}

function text(value: JsonValue): string {
  return printable(JSON.stringify(value), MAX_SHOWN);
}

async function confirm(context: CommandContext): Promise<void> {
  const asked = context.prompt.available;
  if (asked && isYes(await context.prompt.ask('Apply this? [y/N] ', context.signal))) return;
  throw new PluginError({
    code: 'DECLINED',
    message: asked ? 'not confirmed; nothing was changed' : 'nobody is there to confirm; nothing was changed',
    remedy: 'answer y, or add --yes',
  });
}

function immutable(name: string): PluginError {
  return new PluginError({
    code: 'CONFLICT',
    message: `APIResourceSchema ${name} is there with other content, and a schema cannot be changed; nothing was changed`,
    remedy: 'ask who made it; a schema that this version ships has another name in each version',
  });
}
