import { explainBinding, explainConnection } from '../bind/explain.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { EXIT_CODES } from '../exit-codes.js';
import { optionalTimeoutFlag, switchFlag } from '../flag-values.js';
import { listBindings, listConnections } from '../objects.js';
import type { FlagValues } from '../options.js';
import { createColors, type Colors } from '../output/colors.js';
import { pollUntil } from '../poll.js';
import { bindingStatus, connectionStatus } from '../status/render.js';
import type { Binding, Connection } from '../typed-objects.js';
import { asObject } from '../typed-objects.js';

/**
 * `kubectl kcp bind status [NAME]`: the chain from connection to sync, and all conditions. `--watch` shows it again at
 * each change until it is interrupted or its time is over.
 *
 * @returns `notReady` when something that is shown is not Ready
 */
export async function status(context: CommandContext, operand: unknown, flags: FlagValues): Promise<number> {
  const timeoutMs = optionalTimeoutFlag(flags);
  const session = await context.session();
  const name = typeof operand === 'string' ? operand : undefined;
  // Only standard output decides here: a file or a pipe gets no colours.
  const colors = createColors(context.environment.color && context.environment.stdout.isTerminal);
  let seen = await look(context, session, name);
  await show(context, seen, colors);
  if (!switchFlag(flags, 'watch', false)) return exitCodeOf(seen);
  const until = timeoutMs === undefined ? Infinity : context.effects.clock.now() + timeoutMs;
  const phase = context.report.progress.phase('Watching; Ctrl-C ends it');
  await pollUntil({
    look: async () => {
      const current = await look(context, session, name);
      if (fingerprint(current) !== fingerprint(seen)) {
        context.report.note(`--- ${new Date(context.effects.clock.now()).toISOString()}`);
        await show(context, current, colors);
      }
      seen = current;
      return context.effects.clock.now() >= until
        ? { done: true, value: undefined }
        : { done: false, detail: '' };
    },
    phase,
    clock: context.effects.clock,
    signal: context.signal,
  });
  return exitCodeOf(seen);
}

interface Seen {
  readonly connections: readonly Connection[];
  readonly bindings: readonly Binding[];
  /** All connections, also those that are not shown: a binding's chain begins at one. */
  readonly all: readonly Connection[];
}

/** @throws PluginError NOT_FOUND */
async function look(context: CommandContext, session: Session, name: string | undefined): Promise<Seen> {
  const named = (object: { metadata: { name: string } }): boolean =>
    name === undefined || object.metadata.name === name;
  const all = (await listConnections(session.client, context.signal)) ?? [];
  const connections = all.filter(named);
  const bindings = ((await listBindings(session.client, context.signal)) ?? []).filter(named);
  if (name !== undefined && connections.length + bindings.length === 0) {
    throw new PluginError({
      code: 'NOT_FOUND',
      message: `this workspace has no connection or binding ${JSON.stringify(name)}`,
      remedy: 'see `kubectl kcp bind list`',
    });
  }
  return { connections, bindings, all };
}

async function show(context: CommandContext, seen: Seen, colors: Colors): Promise<void> {
  const { all, bindings, connections } = seen;
  if (await context.report.objects([...connections, ...bindings].map(asObject))) return;
  const parts = [
    ...connections.map((connection) => connectionStatus(connection)),
    ...bindings.map((binding) =>
      bindingStatus(
        binding,
        all.find(({ metadata }) => metadata.name === binding.spec.connection),
        colors,
      ),
    ),
  ];
  context.report.result(parts.length === 0 ? 'Nothing is bound in this workspace' : parts.join('\n'));
}

function exitCodeOf({ bindings, connections }: Seen): number {
  const standings = [...connections.map(explainConnection), ...bindings.map(explainBinding)];
  return standings.every((standing) => standing.kind === 'ready') ? EXIT_CODES.ok : EXIT_CODES.notReady;
}

/** What makes a difference to whoever watches: versions of the objects change at heartbeats too. */
function fingerprint(seen: Seen): string {
  return JSON.stringify(
    [...seen.connections, ...seen.bindings].map(({ metadata, spec, status: state }) => [
      metadata.name,
      metadata.uid,
      metadata.deletionTimestamp,
      spec,
      state,
    ]),
  );
}
