import type { JsonValue } from '../../src/kube/json-value.js';
import { isJsonObject } from '../../src/kube/json-value.js';

/** Verbs on one resource; `resource` may name a subresource after a slash. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
}

/**
 * What the controller does in the client workspace; apiexport/controller.yaml grants exactly this (a test
 * compares). Namespaced ones are meant in the controller's namespace.
 */
export const RIGHTS: readonly Right[] = [
  {
    group: 'apis.kcp.io',
    resource: 'apiexports',
    verbs: ['get', 'list', 'watch', 'create', 'update', 'delete', 'bind'],
  },
  { group: 'apis.kcp.io', resource: 'apiexports/content', verbs: ['*'] },
  {
    group: 'apis.kcp.io',
    resource: 'apiresourceschemas',
    verbs: ['get', 'list', 'create', 'delete'],
  },
  { group: 'apis.kcp.io', resource: 'apiexportendpointslices', verbs: ['get', 'list', 'watch'] },
  ...['clusterroles', 'clusterrolebindings'].map((resource) => ({
    group: 'rbac.authorization.k8s.io',
    resource,
    verbs: ['get', 'list', 'create', 'update', 'delete'],
  })),
  { group: '', resource: 'secrets', verbs: ['get', 'list', 'watch', 'create', 'update', 'delete'] },
  { group: '', resource: 'serviceaccounts', verbs: ['get', 'list', 'create', 'delete'] },
  { group: '', resource: 'serviceaccounts/token', verbs: ['create'] },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'create', 'update'] },
];

/** What a SelfSubjectRulesReview answered. */
export type RightsAnswer =
  | { readonly kind: 'complete' }
  /** The server says that its answer is not the whole truth, or it is no answer. */
  | { readonly kind: 'unknown' }
  /** In words: `create apiresourceschemas.apis.kcp.io`. */
  | { readonly kind: 'missing'; readonly missing: readonly string[] };

/** Compares the answer to a SelfSubjectRulesReview with what is needed. */
export function readRights(review: JsonValue, rights: readonly Right[] = RIGHTS): RightsAnswer {
  const status = isJsonObject(review) && isJsonObject(review['status']) ? review['status'] : {};
  const listed = status['resourceRules'];
  if (!Array.isArray(listed)) return { kind: 'unknown' };
  // A rule for objects of certain names does not count: names of what we make are not known before.
  const rules = listed.filter(isJsonObject).filter(({ resourceNames }) => texts(resourceNames).length === 0);
  const missing = rights.flatMap((right) => {
    const granted = new Set(
      rules
        .filter((rule) => names(rule['apiGroups'], right.group) && namesResource(rule['resources'], right))
        .flatMap((rule) => texts(rule['verbs'])),
    );
    const verbs = granted.has('*') ? [] : right.verbs.filter((verb) => !granted.has(verb));
    return verbs.length === 0 ? [] : [describeRight(right, verbs)];
  });
  if (missing.length === 0) return { kind: 'complete' };
  return status['incomplete'] === true ? { kind: 'unknown' } : { kind: 'missing', missing };
}

function namesResource(listed: JsonValue | undefined, { resource }: Right): boolean {
  const subresource = resource.split('/')[1];
  return names(listed, resource) || (subresource !== undefined && texts(listed).includes(`*/${subresource}`));
}

function describeRight({ group, resource }: Right, verbs: readonly string[]): string {
  return `${verbs.join(',')} ${group === '' ? resource : `${resource}.${group}`}`;
}

function names(listed: JsonValue | undefined, name: string): boolean {
  const all = texts(listed);
  return all.includes('*') || all.includes(name);
}

function texts(value: JsonValue | undefined): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
