import { decideDown, statusDigest } from '../../engine/decide-down.js';
import type { DownDecision } from '../../engine/decide-down.js';
import { placeOfCopy } from '../../engine/decide-up.js';
import { member } from '../../engine/field-access.js';
import type { ObjectMemory } from '../../engine/object-memory.js';
import { paceStatus } from '../../engine/status-pace.js';
import type { SyncContext } from '../../engine/sync-context.js';
import { ObjectFailure } from './object-failure.js';
import type { Trouble } from './object-failure.js';
import type { ObjectRecord, StatusRefusal } from './object-records.js';
import { bytesOf } from './object-size.js';
import { consumerFailure } from './object-trouble.js';
import type { ObjectView, Servers } from './object-view.js';
import { GateClosedError } from './side-gate.js';

const MAX_ATTEMPTS = 4;

/** The status cannot be written now. */
export interface StatusPause {
  /** Milliseconds after which it has to be tried again. */
  readonly retryInMs: number;
  /** The workspace refuses it; absent where it would only come too fast. */
  readonly trouble?: Trouble;
}

export interface StatusPassOptions {
  readonly servers: Servers;
  readonly context: SyncContext;
  readonly hasStatus: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Delay after so many refusals in a row. */
  readonly backoffMs: (refusals: number) => number;
}

/** Brings the copy's status down to the consumer's object, if it is another one. */
export async function passStatusDown(
  view: ObjectView,
  record: ObjectRecord,
  options: StatusPassOptions,
): Promise<StatusPause | undefined> {
  const { servers, context, hasStatus, now } = options;
  const { side, calls } = servers.consumer;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { consumer } = view;
    if (consumer === undefined) return undefined;
    const copy = view.copy(placeOfCopy(view.name, context).target).object;
    const decision = decideDown({ consumer, copy, hasStatus, context, memory: record.memory });
    if (decision.kind === 'none') {
      record.statusRefusal = undefined;
      return undefined;
    }
    const pause = pauseAfterRefusal(record.statusRefusal, decision, now);
    if (pause !== undefined) return pause;
    const pace = paceStatus(record.statusDebtUntil, now);
    if ('waitMs' in pace) return { retryInMs: pace.waitMs };
    record.statusDebtUntil = pace.debtUntil;
    try {
      const answer = await view.writeConsumer(() => calls.putStatus(decision.object));
      const stored = statusDigest(member(answer, 'status'));
      record.memory = withAccepted(record.memory, decision.meant, stored);
      record.statusRefusal = undefined;
      return undefined;
    } catch (error) {
      if (await view.rereadConsumer(error)) continue;
      if (error instanceof GateClosedError) throw error;
      const failure = consumerFailure(side.classify(error, view.name), error, decision.object);
      if (!(failure instanceof ObjectFailure)) throw failure;
      return refuse(record, decision, failure, options);
    }
  }
  return undefined;
}

type PutStatus = Extract<DownDecision, { kind: 'putStatus' }>;

/** The same status again has to wait; of one that was too large, so does any that is no smaller. */
function pauseAfterRefusal(
  refusal: StatusRefusal | undefined,
  { meant, object }: PutStatus,
  now: number,
): StatusPause | undefined {
  if (refusal === undefined || now >= refusal.until) return undefined;
  const { trouble, until, bytes } = refusal;
  if (refusal.meant !== meant && (bytes === undefined || bytesOf(object) < bytes)) return undefined;
  return { retryInMs: until - now, trouble };
}

function refuse(
  record: ObjectRecord,
  { meant, object }: PutStatus,
  { trouble, retryAfterMs }: ObjectFailure,
  { now, backoffMs }: StatusPassOptions,
): StatusPause {
  const count = record.statusRefusal?.count ?? 0;
  const retryInMs = (retryAfterMs ?? 0) + backoffMs(count);
  record.statusRefusal = {
    trouble,
    meant,
    count: count + 1,
    until: now + retryInMs,
    bytes: retryAfterMs === undefined ? undefined : bytesOf(object),
  };
  return { retryInMs, trouble };
}

/** Remembers a status that the server stores otherwise than it was meant, so that it is not sent for ever. */
function withAccepted(memory: ObjectMemory, meant: string, stored: string): ObjectMemory {
  const changed = { ...memory };
  delete changed.statusAccepted;
  return stored === meant ? changed : { ...changed, statusAccepted: { meant, stored } };
}
