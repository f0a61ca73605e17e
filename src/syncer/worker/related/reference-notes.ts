import type { KubeObject } from '../../../kube/object.js';
import type { MappingRule, NamespaceLookup } from '../../engine/key-mapping.js';
import { MAX_REFERENCES, resolvesOnProvider } from '../../engine/related/referenced-objects.js';
import { describeName } from '../../engine/sync-context.js';
import type { Referrer } from './referrers.js';

export interface ReferenceNotesOptions {
  readonly rule: Pick<MappingRule, 'isolation' | 'contractNamespace'>;
  readonly namespaces: NamespaceLookup;
  readonly kind: string;
  /** Says something about a consumer's object in its own events. */
  readonly tell: (object: KubeObject, what: { readonly reason: string; readonly message: string }) => void;
}

/** More of them are not named one by one. */
const MAX_NAMED = 3;

/**
 * Tells users about references that cannot be followed on the provider: related objects keep their names there, but
 * lie in namespaces with other names than an object states.
 */
export class ReferenceNotes {
  readonly #options: ReferenceNotesOptions;
  readonly #told = new Map<string, string>();

  constructor(options: ReferenceNotesOptions) {
    this.#options = options;
  }

  /** To be called when an object, or the mapping of namespaces, has changed. */
  check(referrer: Referrer): void {
    const { kind, tell } = this.#options;
    if (referrer.cut) this.#tellOfCut(referrer.object);
    const broken = this.#broken(referrer);
    const uid = referrer.object.metadata.uid ?? '';
    if (broken.length === 0) {
      this.#told.delete(uid);
      return;
    }
    const message =
      `The provider sees these references to a ${kind} in a namespace that it calls otherwise: ${named(broken)}. ` +
      'The referenced objects are copied, but the provider cannot find them by what this object says. Leave the namespace out, or ask the provider.';
    if (this.#told.get(uid) === message) return;
    this.#told.set(uid, message);
    tell(referrer.object, { reason: 'ReferenceMapped', message });
  }

  #tellOfCut(object: KubeObject): void {
    const { kind, tell } = this.#options;
    const id = `${object.metadata.uid ?? ''} cut`;
    if (this.#told.has(id)) return;
    const message =
      `This object refers to more than ${String(MAX_REFERENCES)} objects of kind ${kind}; those after them are not copied. ` +
      'Refer to fewer of them from one object.';
    this.#told.set(id, message);
    tell(object, { reason: 'ReferencesCut', message });
  }

  /** One sentence about all of them; undefined where there are none. */
  summary(referrers: Iterable<Referrer>): string | undefined {
    const { kind } = this.#options;
    const objects: string[] = [];
    for (const referrer of referrers)
      if (this.#broken(referrer).length > 0) objects.push(describeName(referrer.object.metadata));
    if (objects.length === 0) return undefined;
    return `References to a ${kind} that state a namespace lead nowhere on the provider, which calls it otherwise, in: ${named(objects)}.`;
  }

  #broken({ object, referenced }: Referrer): readonly string[] {
    const { rule, namespaces } = this.#options;
    const scope = object.metadata.namespace === undefined ? 'Cluster' : 'Namespaced';
    return referenced
      .filter((each) => !resolvesOnProvider(each, { ...rule, scope }, namespaces))
      .map(describeName);
  }
}

function named(names: readonly string[]): string {
  const more = names.length - MAX_NAMED;
  const shown = names.slice(0, MAX_NAMED).join(', ');
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
}
