import { BINDINGS } from '../../../src/api/group.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { getOptional } from '../objects.js';
import { pollUntil, type Look } from '../poll.js';
import { asBinding, type ApiBinding, type Binding } from '../typed-objects.js';
import { explainBinding } from './explain.js';
import { bindGeneratedExport, needsApiBinding, refreshGeneratedConsent } from './generated-binding.js';

/** How long a reason that needs somebody must last before it is believed: kcp recovers from some in seconds. */
const PATIENCE_MS = 15_000;

/**
 * Waits until a binding is Ready, showing the first condition that is not. Where the controller may not
 * create APIBindings, the plugin creates the generated one.
 *
 * @throws PluginError NOT_READY when it stays in a state that needs somebody; NOT_FOUND when it was deleted
 */
export async function waitReady(
  context: CommandContext,
  session: Session,
  binding: Binding,
  client: ApiBinding,
): Promise<Binding> {
  const { name } = binding.metadata;
  const { clock } = context.effects;
  context.remains(`KubeBindBinding ${name} exists and is not Ready yet; the controller goes on with it`);
  const phase = context.report.progress.phase(`Waiting until KubeBindBinding ${name} is Ready`);
  let stuck: { reason: string; since: number } | undefined;
  let madeApiBinding = false;
  const ready = await pollUntil({
    look: async (): Promise<Look<Binding>> => {
      const current = await read(context, session, name);
      if (needsApiBinding(current) && !madeApiBinding) {
        await bindGeneratedExport(context, session, { binding: current, client, phase });
        madeApiBinding = true;
        return { done: false, detail: 'the controller has not seen the APIBinding yet' };
      }
      const standing = explainBinding(current);
      if (standing.kind === 'ready') return { done: true, value: current };
      if (standing.kind !== 'stuck') stuck = undefined;
      else if (stuck?.reason !== standing.reason) stuck = { reason: standing.reason, since: clock.now() };
      else if (clock.now() - stuck.since >= PATIENCE_MS) throw notReady(name, standing.why);
      if (standing.kind === 'deleting') throw deleted(name);
      context.remains(
        `KubeBindBinding ${name} is not Ready yet (${standing.why}); the controller goes on with it`,
      );
      return { done: false, detail: standing.why };
    },
    phase,
    clock,
    signal: context.signal,
  });
  await refreshGeneratedConsent(context, session, { binding: ready, client });
  phase.done(`KubeBindBinding ${name} is Ready`);
  return ready;
}

async function read(context: CommandContext, session: Session, name: string): Promise<Binding> {
  const object = await getOptional(session.client, BINDINGS, name, context.signal);
  if (object === undefined) throw deleted(name);
  return asBinding(object);
}

function notReady(name: string, why: string): PluginError {
  return new PluginError({
    code: 'NOT_READY',
    message: `KubeBindBinding ${name} does not become Ready: ${why}`,
    remedy: `do what the message says, then run the same command again; \`kubectl kcp bind status ${name}\` shows all conditions`,
  });
}

function deleted(name: string): PluginError {
  return new PluginError({
    code: 'NOT_FOUND',
    message: `KubeBindBinding ${name} was deleted meanwhile`,
    remedy: 'run the command again to make another',
  });
}
