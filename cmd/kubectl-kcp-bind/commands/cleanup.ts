import { findHeld, letGo, type HeldObject } from '../cleanup/our-finalizers.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { dryRunFlag, switchFlag } from '../flag-values.js';
import type { FlagValues } from '../options.js';
import { isYes } from '../output/prompt.js';
import { printable } from '../output/printable.js';

const MAX_SHOWN = 100;

/**
 * `kubectl kcp bind cleanup`: where no controller is left that could, takes our finalizers off everything in the
 * workspace, after showing what that is. Deletes nothing itself.
 */
export async function cleanup(
  context: CommandContext,
  _operand: unknown,
  flags: FlagValues,
): Promise<number> {
  const session = await context.session();
  const { held, unread } = await findHeld(context, session);
  for (const kind of unread) {
    context.report.warn(`${printable(kind)} could not be read; finalizers on such objects stay`);
  }
  if (dryRunFlag(flags) !== 'none') {
    if (!(await context.report.objects(held.map(({ object }) => object)))) {
      context.report.result([...describe(held), 'Nothing was changed (dry run)'].join('\n'));
    }
    return EXIT_CODES.ok;
  }
  if (held.length === 0) {
    context.report.result('No object of this workspace is held by our finalizers');
    return EXIT_CODES.ok;
  }
  for (const line of describe(held)) context.report.note(line);
  context.report.note(
    'Their copies at the providers stay, and a controller that still runs puts the finalizers back: this is for workspaces that no controller serves any more.',
  );
  if (!switchFlag(flags, 'yes', false)) await confirm(context);
  let left = held.length;
  for (const one of held) {
    context.remains(`${left} objects still carry our finalizers`);
    await letGo(context, session, one);
    left -= 1;
  }
  if (!(await context.report.objects(held.map(({ object }) => object)))) {
    context.report.result(`${held.length} objects are no longer held`);
  }
  return EXIT_CODES.ok;
}

function describe(held: readonly HeldObject[]): string[] {
  const lines = held.slice(0, MAX_SHOWN).map(({ gvr, object }) => {
    const { deletionTimestamp, name, namespace } = object.metadata;
    const place = namespace === undefined ? '' : ` in namespace ${namespace}`;
    const fate = deletionTimestamp === undefined ? 'stays' : 'is being deleted, and then gone';
    return `  ${printable(`${gvr.resource}.${gvr.group} ${name}${place}`, 300)}: ${fate}`;
  });
  const more = held.length - lines.length;
  return [
    `Our finalizers hold ${held.length} objects of this workspace:`,
    ...lines,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

async function confirm(context: CommandContext): Promise<void> {
  const asked = context.prompt.available;
  if (asked && isYes(await context.prompt.ask('Take our finalizers off? [y/N] ', context.signal))) return;
  throw new PluginError({
    code: 'DECLINED',
    message: asked ? 'not confirmed; nothing was changed' : 'nobody is there to confirm; nothing was changed',
    remedy: 'answer y, or add --yes',
  });
}
