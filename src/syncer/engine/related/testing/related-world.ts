import { BINDING_UID_LABEL, CLUSTER_LABEL, CREDENTIALS_LABEL, KUBE_BIND } from '../../../../api/markers.js';
import type { JsonObject } from '../../../../kube/json-value.js';
import type { KubeObject, ObjectName } from '../../../../kube/object.js';
import type { CopyMarks } from '../../desired-copy.js';
import { EMPTY_MEMORY } from '../../object-memory.js';
import type { ObjectMemory } from '../../object-memory.js';
import { isCopyOfBinding } from '../../ownership.js';
import { decideRelated, otherEnd } from '../decide-related.js';
import type { EndView, RelatedDecision } from '../decide-related.js';
import { differenceOf, relatedCopy } from '../related-copy.js';
import type { End } from '../related-copy.js';
import type { RelatedKind } from '../related-kinds.js';
import { roleOf } from '../related-role.js';

export const MARKS: CopyMarks = {
  cluster: 'abc',
  contractNamespace: 'contract',
  bindingUid: 'b-1',
  bindingName: 'databases',
};
export const PLACES: Readonly<Record<End, ObjectName>> = {
  consumer: { namespace: 'ns', name: 'a' },
  provider: { namespace: 'contract-ns', name: 'a' },
};

/** An original at one end. */
export function secret(end: End, fields: JsonObject, metadata: JsonObject = {}): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      ...PLACES[end],
      name: 'a',
      uid: `uid-${end}`,
      resourceVersion: '1',
      ...metadata,
    } as KubeObject['metadata'],
    ...fields,
  };
}

export interface Content {
  readonly data: Record<string, string>;
  readonly type: string;
  readonly immutable: boolean;
  readonly selected: boolean;
  /** Carries the label of a kubeconfig. */
  readonly home: boolean;
  /** A copy that somebody else made, or nobody's. */
  readonly brand: 'none' | 'sibling' | 'other contract' | 'konnector';
}

const BRANDS: Readonly<Record<Content['brand'], { readonly uid?: string; readonly contract?: string }>> = {
  none: {},
  sibling: { uid: 'b-2', contract: MARKS.contractNamespace },
  'other contract': { uid: MARKS.bindingUid, contract: 'another' },
  konnector: {},
};

export type WorldStep =
  | { readonly do: 'put'; readonly end: End; readonly content: Content }
  | { readonly do: 'delete' | 'hide' | 'show' | 'tamper'; readonly end: End }
  | { readonly do: 'accept' | 'reject' | 'sync' }
  | { readonly do: 'work'; readonly steps: number };

const ENDS = ['consumer', 'provider'] as const;

/** One related object on two servers, to which anything may happen, and a sync that does what is decided. */
export class RelatedWorld {
  readonly #kind: RelatedKind;
  readonly #deletion: 'Delete' | 'Orphan';
  readonly #objects = new Map<End, KubeObject>();
  /** Servers that show nothing for the time being. */
  readonly #hidden = new Set<End>();
  #accepted = true;
  #draining = false;
  #memory: ObjectMemory = EMPTY_MEMORY;
  #uids = 0;
  #now = 0;
  readonly violations: string[] = [];
  writesUntilRest = 0;

  constructor(kind: RelatedKind, deletion: 'Delete' | 'Orphan') {
    this.#kind = kind;
    this.#deletion = deletion;
  }

  take(step: WorldStep): void {
    switch (step.do) {
      case 'put':
        this.#put(step.end, step.content);
        return;
      case 'delete':
        this.#objects.delete(step.end);
        return;
      case 'hide':
        this.#hidden.add(step.end);
        return;
      case 'show':
        this.#hidden.delete(step.end);
        return;
      case 'tamper':
        this.#tamper(step.end);
        return;
      case 'accept':
      case 'reject':
        this.#accepted = step.do === 'accept';
        return;
      case 'sync':
        this.settle();
        return;
      case 'work':
        for (let left = step.steps; left > 0; left--) this.#work();
    }
  }

  /** Ends all disturbances and works until nothing is to be done. */
  settle(): void {
    this.#hidden.clear();
    this.#now += 1e9;
    this.writesUntilRest = 0;
    for (let left = 30; left > 0 && this.#work(); left--) this.writesUntilRest += 1;
    if (this.#work()) this.violations.push('it does not come to rest');
  }

  drain(): void {
    this.#draining = true;
    this.settle();
  }

  copies(): KubeObject[] {
    return [...this.#objects.values()].filter((object) => isCopyOfBinding(object, MARKS));
  }

  /** With consent: a selected original that is alone or has our copy opposite has exactly the copy that it says. */
  expectInOrder(): void {
    if (!this.#accepted) return;
    for (const end of ENDS) {
      const object = this.#objects.get(end);
      const opposite = this.#objects.get(otherEnd(end));
      if (object === undefined || roleOf(object, end, this.#kind, MARKS) !== 'original') continue;
      if (opposite !== undefined && !isCopyOfBinding(opposite, MARKS)) continue;
      if (!selected(object)) {
        if (opposite !== undefined) throw new Error('what is not selected has a copy');
        continue;
      }
      if (opposite === undefined) throw new Error('what is selected has no copy');
      const target = PLACES[otherEnd(end)];
      const { object: desired } = relatedCopy(object, { kind: this.#kind, to: otherEnd(end), target }, MARKS);
      if (differenceOf(opposite, desired, this.#kind) !== 'none') throw new Error('the copy differs');
    }
  }

  #put(end: End, { data, type, immutable, selected: isSelected, home, brand }: Content): void {
    const old = this.#objects.get(end);
    // A user makes objects of his own; what he does to copies is tampering.
    if (old !== undefined && isCopyOfBinding(old, MARKS)) return;
    const { uid, contract } = BRANDS[brand];
    const labels = {
      ...(isSelected && { share: 'yes' }),
      ...(home && { [CREDENTIALS_LABEL]: 'true' }),
      ...(brand !== 'none' && { [KUBE_BIND.owner]: otherEnd(end) }),
      ...(uid !== undefined && { [BINDING_UID_LABEL]: uid }),
    };
    const annotations = {
      ...(contract !== undefined && {
        [KUBE_BIND.clusterNamespace]: contract,
        [CLUSTER_LABEL]: MARKS.cluster,
      }),
    };
    const fields = { data, type, ...(immutable && { immutable }) };
    this.#store(end, secret(end, fields, { labels, annotations, uid: this.#uid() }));
  }

  #tamper(end: End): void {
    const object = this.#objects.get(end);
    if (object !== undefined) this.#store(end, { ...object, data: { tampered: 'eA==' } });
  }

  /** True where something was written. */
  #work(): boolean {
    const decision = this.#decide({ consumer: 'none', provider: 'none' });
    if (decision.kind === 'create' || decision.kind === 'replace') {
      const { end, copy, repeated } = decision;
      if (decision.kind === 'replace') this.#checkOurs(end, 'replaces');
      else if (this.#objects.has(end)) return false;
      this.#store(end, decision.kind === 'create' ? copy.object : decision.object);
      this.#memory = { sent: copy.hash };
      // The clock of this world leaps, so nothing is ever contested.
      if (repeated) this.#now += 1e9;
      return true;
    }
    if (decision.kind === 'delete') {
      this.#checkOurs(decision.end, 'deletes');
      this.#objects.delete(decision.end);
      this.#memory = EMPTY_MEMORY;
      return true;
    }
    if (decision.kind !== 'orphan') return false;
    this.#checkOurs(decision.end, 'orphans');
    this.#leaveBehind(decision.end);
    return true;
  }

  #leaveBehind(end: End): void {
    const object = this.#objects.get(end);
    if (object === undefined) return;
    const annotations = { 'kcp.kube-bind.io/orphaned': 'true' };
    const metadata = { ...object.metadata, labels: { share: 'yes' }, annotations };
    this.#store(end, { ...object, metadata });
  }

  #decide(proofs: Record<End, EndView['proof']>): RelatedDecision {
    const decision = decideRelated({
      kind: this.#kind,
      ends: { consumer: this.#view('consumer', proofs), provider: this.#view('provider', proofs) },
      selected: { consumer: this.#selected('consumer'), provider: this.#selected('provider') },
      accepted: this.#accepted,
      marks: MARKS,
      policies: { conflict: 'Fail', deletion: this.#deletion, paused: false, draining: this.#draining },
      memory: this.#memory,
      unselectableAt: 0,
      now: this.#now,
    });
    if (decision.kind !== 'prove') return decision;
    // A server that hides an object never says that it is gone.
    if (this.#hidden.has(decision.end) || this.#objects.has(decision.end)) return { kind: 'wait' };
    return this.#decide({ ...proofs, [decision.end]: 'gone' });
  }

  #view(end: End, proofs: Record<End, EndView['proof']>): EndView {
    const object = this.#hidden.has(end) ? undefined : this.#objects.get(end);
    const provableAt = object === undefined ? this.#now : undefined;
    return { place: PLACES[end], object, listed: true, proof: proofs[end], provableAt };
  }

  #selected(end: End): 'yes' | 'no' {
    const object = this.#objects.get(end);
    return object !== undefined && selected(object) ? 'yes' : 'no';
  }

  #checkOurs(end: End, what: string): void {
    const object = this.#objects.get(end);
    if (object !== undefined && isCopyOfBinding(object, MARKS)) return;
    this.violations.push(`it ${what} what is not ours at the ${end}`);
  }

  #store(end: End, object: KubeObject): void {
    const metadata = {
      ...object.metadata,
      uid: object.metadata.uid ?? this.#uid(),
      resourceVersion: this.#uid(),
    };
    this.#objects.set(end, { ...object, metadata });
  }

  #uid(): string {
    return String(++this.#uids);
  }
}

function selected(object: KubeObject): boolean {
  return object.metadata.labels?.['share'] === 'yes';
}
