import type { KubeObject } from '../../../kube/object.js';
import type { ObjectEvent } from '../../protocol/report.js';
import type { ObjectRecord } from './object-records.js';
import { bounded } from './write-failure.js';

/** An event about an object, without the binding's key. */
export type SyncEvent = Omit<ObjectEvent, 'key'>;

/** Says things about objects in their own events, each once until something else is to be said. */
export class ObjectTeller {
  readonly #emit: (event: SyncEvent) => void;

  constructor(emit: (event: SyncEvent) => void) {
    this.#emit = emit;
  }

  tell(
    record: ObjectRecord,
    object: KubeObject,
    type: 'Normal' | 'Warning',
    what: { readonly reason: string; readonly message: string },
  ): void {
    const said = `${what.reason}\n${what.message}`;
    if (record.told === said) return;
    record.told = said;
    this.say(object, type, what);
  }

  /** Says it without looking at what was said before. */
  say(
    object: KubeObject,
    type: 'Normal' | 'Warning',
    what: { readonly reason: string; readonly message: string },
  ): void {
    const { name, namespace, uid = '' } = object.metadata;
    this.#emit({
      apiVersion: object.apiVersion,
      kind: object.kind,
      ...(namespace !== undefined && { namespace }),
      name,
      uid,
      type,
      reason: what.reason,
      message: bounded(what.message),
    });
  }
}
