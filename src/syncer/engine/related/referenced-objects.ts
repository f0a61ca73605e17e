import type { KubeObject, ObjectName } from '../../../kube/object.js';
import type { MappingRule, NamespaceLookup } from '../key-mapping.js';
import type { ClaimReference } from './claim-selector.js';
import { MAX_VALUES, textsAt, valuesAt } from './reference-path.js';
import type { PathStep, ReferencePath } from './reference-path.js';

/** Something that an object refers to. */
export interface ReferencedObject extends ObjectName {
  /** The object names the namespace itself; otherwise it is the object's own. */
  readonly stated: boolean;
}

/** So many references of one kind are followed; one more is found, so that a cut is noticed. */
export const MAX_REFERENCES = MAX_VALUES - 1;

const NAME = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/**
 * What an object of the consumer refers to by one reference of a claim. Name and namespace are paired where they
 * stand: in a list of references each name goes with its own namespace. Without a namespace it is the object's own
 * (an object in one namespace must not reach into another one by a name alone); an object that has none either
 * refers to that name in every namespace.
 */
export function referencedObjects(
  object: KubeObject,
  reference: ClaimReference,
): readonly ReferencedObject[] {
  const shared = reference.namespace === undefined ? 0 : sharedSteps(reference.name, reference.namespace);
  const found: ReferencedObject[] = [];
  for (const context of valuesAt(object, reference.name.slice(0, shared))) {
    const names = sound(textsAt(context, reference.name.slice(shared)));
    const stated =
      reference.namespace === undefined ? [] : sound(textsAt(context, reference.namespace.slice(shared)));
    const own = object.metadata.namespace;
    const spaces: readonly (string | undefined)[] = stated.length > 0 ? stated : [own];
    const isStated = stated.length > 0;
    for (const namespace of spaces)
      found.push(
        ...names.map((name) => ({ name, ...(namespace !== undefined && { namespace }), stated: isStated })),
      );
    if (found.length >= MAX_VALUES) break;
  }
  return found.slice(0, MAX_VALUES);
}

/**
 * True where the copy of the referring object, as the provider sees it, still leads to the copy of what it refers to.
 * Names stay; a namespace that the object states is the consumer's, and has another name on the provider.
 */
export function resolvesOnProvider(
  referenced: ReferencedObject,
  rule: MappingRule,
  namespaces: NamespaceLookup,
): boolean {
  const { namespace, stated } = referenced;
  // The copies of cluster-scoped objects then lie in one namespace, and related copies in others.
  if (rule.scope === 'Cluster' && rule.isolation === 'Namespaced') return false;
  if (!stated || namespace === undefined) return true;
  const mapped = namespaces.providerNamespace(namespace);
  return mapped === undefined || mapped === namespace;
}

/** How many steps two paths have in common, the last one of each left out. */
function sharedSteps(a: ReferencePath, b: ReferencePath): number {
  let count = 0;
  while (count < Math.min(a.length, b.length) - 1 && sameStep(a[count], b[count])) count++;
  return count;
}

function sameStep(a: PathStep | undefined, b: PathStep | undefined): boolean {
  if (a?.kind !== 'name' || b?.kind !== 'name') return a?.kind === b?.kind;
  return a.name === b.name;
}

/** Only what can be the name of an object; anything else refers to nothing. */
function sound(texts: readonly string[]): readonly string[] {
  return texts.map((text) => text.trim()).filter((text) => NAME.test(text));
}
