import type { ObjectName } from '../../../kube/object.js';
import { EMPTY_MEMORY } from '../../engine/object-memory.js';
import type { ObjectMemory } from '../../engine/object-memory.js';
import type { Trouble } from './object-failure.js';

/** What the process knows about one consumer object beside both servers' caches. */
export interface ObjectRecord {
  memory: ObjectMemory;
  /** Something is still to be done, or to come. */
  pending: boolean;
  /** The last attempt failed for this reason. */
  failing: Trouble | undefined;
  /** It is in sync as far as the provider lets it: what is not as the user wrote it. */
  notice: Trouble | undefined;
  /** What the last event said, so that it is not said again. */
  told: string | undefined;
  /** Where the copy was when it was in order last. */
  place: ObjectName | undefined;
  /** Since when the consumer's object has been missing, milliseconds since the epoch. */
  missingSince: number | undefined;
  /** The copy was refused: no write is tried before this time, milliseconds since the epoch. */
  heldUntil: number;
  /** Something that may lift the refusal has happened since the last attempt began. */
  released: boolean;
  /** For the pace of status writes. */
  statusDebtUntil: number;
  /** The workspace refused a status; until another one is taken. */
  statusRefusal: StatusRefusal | undefined;
}

/** A status that the consumer's server did not take. */
export interface StatusRefusal {
  readonly trouble: Trouble;
  /** Digest of the status that was meant. */
  readonly meant: string;
  /** Refusals in a row. */
  readonly count: number;
  /** No earlier is the same one tried again, milliseconds since the epoch. */
  readonly until: number;
  /** Refused for its size: one that is no smaller is not tried earlier either. */
  readonly bytes: number | undefined;
}

/** Counts over all records, kept up to date with each change. */
export interface RecordFigures {
  readonly pending: number;
  readonly failing: number;
}

/** Records by the consumer object's key. */
export class ObjectRecords<K extends string> {
  readonly #records = new Map<K, ObjectRecord>();

  /** The record, made when there is none. */
  of(key: K): ObjectRecord {
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const record: ObjectRecord = {
      memory: EMPTY_MEMORY,
      pending: true,
      failing: undefined,
      notice: undefined,
      told: undefined,
      place: undefined,
      missingSince: undefined,
      heldUntil: 0,
      released: false,
      statusDebtUntil: 0,
      statusRefusal: undefined,
    };
    this.#records.set(key, record);
    return record;
  }

  get(key: K): ObjectRecord | undefined {
    return this.#records.get(key);
  }

  /** After a refusal: nothing is tried before `until`, unless something that may lift it has happened meanwhile. */
  hold(key: K, until: number): void {
    const record = this.#records.get(key);
    if (record?.failing !== undefined && !record.released) record.heldUntil = until;
  }

  /** Something has changed that may help: an end to the back-off. */
  release(key: K): void {
    const record = this.#records.get(key);
    if (record === undefined) return;
    record.heldUntil = 0;
    record.released = true;
  }

  /** The consumer's object was edited: there may be room for its status now. */
  retryStatus(key: K): void {
    const record = this.#records.get(key);
    if (record?.statusRefusal !== undefined) record.statusRefusal = { ...record.statusRefusal, until: 0 };
  }

  delete(key: K): void {
    this.#records.delete(key);
  }

  figures(): RecordFigures {
    let pending = 0;
    let failing = 0;
    for (const record of this.#records.values()) {
      if (record.failing !== undefined) failing += 1;
      else if (record.pending) pending += 1;
    }
    return { pending, failing };
  }

  /** The trouble to show where several objects have some: failures before notices. */
  exampleTrouble(): { readonly trouble: Trouble; readonly notice: boolean } | undefined {
    let notice: Trouble | undefined;
    for (const record of this.#records.values()) {
      if (record.failing !== undefined) return { trouble: record.failing, notice: false };
      notice ??= record.notice;
    }
    return notice && { trouble: notice, notice: true };
  }
}
