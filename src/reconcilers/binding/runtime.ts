import type { AssignmentContent } from './assignment.js';
import { poolKey } from '../keys.js';
import type { Progress, StepFailure } from './observation.js';
import type { BindingRef } from './owner.js';

/** Why kcp did not take a schema. */
export interface SchemaRefusal {
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What this process remembers about one binding. Nothing here is needed after a restart. */
export interface Runtime {
  readonly ref: BindingRef;
  /** Name of its connection, as last seen. */
  connection: string;
  /** What the pool was given. */
  assigned: AssignmentContent | undefined;
  /** An APIBinding is bound: objects may exist. */
  bound: boolean;
  firstSeenAt: number;
  /** Since when it waits for other bindings to tell which of the provider's namespaces they use. */
  peersAwaitedSince: number | undefined;
  progress: Progress;
  /** When all parts of the generated export were last looked at. */
  verifiedAt: number | undefined;
  /**
   * The export was pointed at other schemas: the old ones may go when kcp has followed. Undefined until the export
   * was asked whether a process before this one did that.
   */
  schemasReplaced: boolean | undefined;
  /** By name of the APIResourceSchema. */
  readonly refusals: Map<string, SchemaRefusal>;
  /** The step that failed in the last run. */
  failure: StepFailure | undefined;
  /** When figures were last written to status. */
  figuresAt: number | undefined;
}

/** Runtimes by pool key; found by workspace and name too. */
export class Runtimes {
  readonly #byKey = new Map<string, Runtime>();
  readonly #byName = new Map<string, Set<string>>();

  get(key: string): Runtime | undefined {
    return this.#byKey.get(key);
  }

  of(ref: BindingRef, now: number): Runtime {
    const key = poolKey(ref.cluster, ref.uid);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const runtime: Runtime = {
      ref,
      connection: '',
      assigned: undefined,
      bound: false,
      firstSeenAt: now,
      peersAwaitedSince: undefined,
      progress: { drained: false, cleaned: false },
      verifiedAt: undefined,
      schemasReplaced: undefined,
      refusals: new Map(),
      failure: undefined,
      figuresAt: undefined,
    };
    this.#byKey.set(key, runtime);
    const name = `${ref.cluster}|${ref.name}`;
    const keys = this.#byName.get(name) ?? new Set();
    this.#byName.set(name, keys.add(key));
    return runtime;
  }

  /** Bindings of that name that this process has worked on; names are used again, UIDs are not. */
  named(cluster: string, name: string): readonly Runtime[] {
    return [...(this.#byName.get(`${cluster}|${name}`) ?? [])].flatMap((key) => this.#byKey.get(key) ?? []);
  }

  /** UIDs of a connection's bindings that this process works on. */
  *ofConnection(cluster: string, name: string): Iterable<string> {
    for (const { ref, connection } of this.#byKey.values()) {
      if (ref.cluster === cluster && connection === name) yield ref.uid;
    }
  }

  remove(ref: BindingRef): void {
    const key = poolKey(ref.cluster, ref.uid);
    this.#byKey.delete(key);
    const name = `${ref.cluster}|${ref.name}`;
    const keys = this.#byName.get(name);
    keys?.delete(key);
    if (keys?.size === 0) this.#byName.delete(name);
  }
}
