import { decideDown, statusDigest } from '../../engine/decide-down.js';
import { placeOfCopy } from '../../engine/decide-up.js';
import { member } from '../../engine/field-access.js';
import type { ObjectMemory } from '../../engine/object-memory.js';
import type { SyncContext } from '../../engine/sync-context.js';
import type { ObjectRecord } from './object-records.js';
import { consumerFailure } from './object-trouble.js';
import type { ObjectView, Servers } from './object-view.js';
import { GateClosedError } from './side-gate.js';

const MAX_ATTEMPTS = 4;

/** Brings the copy's status down to the consumer's object, if it is another one. */
export async function passStatusDown(
  view: ObjectView,
  record: ObjectRecord,
  options: { readonly servers: Servers; readonly context: SyncContext; readonly hasStatus: boolean },
): Promise<void> {
  const { servers, context, hasStatus } = options;
  const { side, calls } = servers.consumer;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { consumer } = view;
    if (consumer === undefined) return;
    const copy = view.copy(placeOfCopy(view.name, context).target).object;
    const decision = decideDown({ consumer, copy, hasStatus, context, memory: record.memory });
    if (decision.kind === 'none') return;
    try {
      const answer = await view.writeConsumer(() => calls.putStatus(decision.object));
      const stored = statusDigest(member(answer, 'status'));
      record.memory = withAccepted(record.memory, decision.meant, stored);
      return;
    } catch (error) {
      if (await view.rereadConsumer(error)) continue;
      if (error instanceof GateClosedError) throw error;
      throw consumerFailure(side.classify(error, view.name), error);
    }
  }
}

/** Remembers a status that the server stores otherwise than it was meant, so that it is not sent for ever. */
function withAccepted(memory: ObjectMemory, meant: string, stored: string): ObjectMemory {
  const changed = { ...memory };
  delete changed.statusAccepted;
  return stored === meant ? changed : { ...changed, statusAccepted: { meant, stored } };
}
