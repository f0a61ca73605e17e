import type { Gvr } from '../../../src/api/gvr.js';
import { FORCE_RELEASE_ANNOTATION } from '../../../src/api/markers.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import type { CommandContext, Session } from '../command-context.js';
import { getOptional } from '../objects.js';
import { pollUntil, type Look } from '../poll.js';

/** An object of ours that is to go. */
export interface Removal {
  readonly gvr: Gvr;
  readonly object: KubeObject;
  /** Set `spec.deletionPolicy: Orphan` first. */
  readonly orphan: boolean;
  /** Set the annotation that lets the controller go without the provider. */
  readonly force: boolean;
}

/**
 * Deletes one object, after its wishes about copies were written, so that the controller sees them first.
 * Does nothing where it is gone or is another one of the same name.
 */
export async function startRemoval(
  context: CommandContext,
  session: Session,
  removal: Removal,
): Promise<void> {
  const { gvr, object } = removal;
  const { name, uid } = object.metadata;
  const { signal } = context;
  const wishes = wishesOf(removal);
  try {
    if (wishes !== undefined) await session.client.patch(gvr, { name }, 'merge', wishes, { signal });
    if (object.metadata.deletionTimestamp === undefined)
      await session.client.delete(gvr, { name }, { uid, signal });
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

/** Waits until the object is gone, showing what holds it. */
export async function waitGone(
  context: CommandContext,
  session: Session,
  removal: Removal,
  explain: (object: KubeObject) => string,
): Promise<void> {
  const { gvr, object } = removal;
  const { name, uid } = object.metadata;
  const what = `${object.kind} ${name}`;
  const phase = context.report.progress.phase(`Waiting until ${what} is gone`);
  context.remains(`${what} is being deleted; the controller goes on with it`);
  await pollUntil({
    look: async (): Promise<Look<undefined>> => {
      const current = await getOptional(session.client, gvr, name, context.signal);
      if (current === undefined || current.metadata.uid !== uid) return { done: true, value: undefined };
      const detail = explain(current);
      context.remains(`${what} is still being deleted (${detail}); the controller goes on with it`);
      return { done: false, detail };
    },
    phase,
    clock: context.effects.clock,
    signal: context.signal,
  });
  phase.done(`${what} is gone`);
}

function wishesOf(removal: Removal): JsonObject | undefined {
  const { annotations } = removal.object.metadata;
  const force = removal.force && annotations?.[FORCE_RELEASE_ANNOTATION] !== 'true';
  const spec = removal.object['spec'];
  const isOrphan =
    typeof spec === 'object' && spec !== null && !Array.isArray(spec) && spec['deletionPolicy'] === 'Orphan';
  const orphan = removal.orphan && !isOrphan;
  if (!force && !orphan) return undefined;
  return {
    ...(force ? { metadata: { annotations: { [FORCE_RELEASE_ANNOTATION]: 'true' } } } : {}),
    ...(orphan ? { spec: { deletionPolicy: 'Orphan' } } : {}),
  };
}
