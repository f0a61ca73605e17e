import { decideDown, statusDigest } from '../../engine/decide-down.js';
import { placeOfCopy } from '../../engine/decide-up.js';
import { member } from '../../engine/field-access.js';
import type { ObjectMemory } from '../../engine/object-memory.js';
import { paceStatus } from '../../engine/status-pace.js';
import type { SyncContext } from '../../engine/sync-context.js';
import type { ObjectRecord } from './object-records.js';
import { consumerFailure } from './object-trouble.js';
import type { ObjectView, Servers } from './object-view.js';
import { GateClosedError } from './side-gate.js';

const MAX_ATTEMPTS = 4;

/**
 * Brings the copy's status down to the consumer's object, if it is another one.
 *
 * @returns milliseconds after which it has to be tried again, where it would come too fast now
 */
export async function passStatusDown(
  view: ObjectView,
  record: ObjectRecord,
  options: {
    readonly servers: Servers;
    readonly context: SyncContext;
    readonly hasStatus: boolean;
    readonly now: number;
  },
): Promise<number | undefined> {
  const { servers, context, hasStatus, now } = options;
  const { side, calls } = servers.consumer;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { consumer } = view;
    if (consumer === undefined) return undefined;
    const copy = view.copy(placeOfCopy(view.name, context).target).object;
    const decision = decideDown({ consumer, copy, hasStatus, context, memory: record.memory });
    if (decision.kind === 'none') return undefined;
    const pace = paceStatus(record.statusDebtUntil, now);
    if ('waitMs' in pace) return pace.waitMs;
    record.statusDebtUntil = pace.debtUntil;
    try {
      const answer = await view.writeConsumer(() => calls.putStatus(decision.object));
      const stored = statusDigest(member(answer, 'status'));
      record.memory = withAccepted(record.memory, decision.meant, stored);
      return undefined;
    } catch (error) {
      if (await view.rereadConsumer(error)) continue;
      if (error instanceof GateClosedError) throw error;
      throw consumerFailure(side.classify(error, view.name), error);
    }
  }
  return undefined;
}

/** Remembers a status that the server stores otherwise than it was meant, so that it is not sent for ever. */
function withAccepted(memory: ObjectMemory, meant: string, stored: string): ObjectMemory {
  const changed = { ...memory };
  delete changed.statusAccepted;
  return stored === meant ? changed : { ...changed, statusAccepted: { meant, stored } };
}
