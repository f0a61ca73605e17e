import type { KubeObject } from '../kube/object.js';
import type { JsonObject } from '../kube/json-value.js';
import { isDeleting, objectsAt, textAt, textsAt } from './views.js';

/** Where our own workspace is, under every name that an APIBinding may use for it. */
export interface ExportHome {
  /** Path of the client workspace, for instance `root:kube-bind`. */
  readonly path: string;
  /** Its logical cluster's name. */
  readonly cluster: string;
}

/** A resource by group and plural name. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export function groupResourceKey({ group, resource }: GroupResource): string {
  return `${resource}.${group}`;
}

/** `resource.group` for people; the core group adds nothing. */
export function groupResourceText({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** True when an APIBinding refers to the export of that name in our workspace. */
export function refersTo(apiBinding: KubeObject, home: ExportHome, exportName: string): boolean {
  if (textAt(apiBinding, 'spec', 'reference', 'export', 'name') !== exportName) return false;
  const path = textAt(apiBinding, 'spec', 'reference', 'export', 'path');
  return path === home.path || path === home.cluster;
}

/**
 * What a workspace has granted through its APIBinding to the client export: verbs for each resource that is
 * claimed (`status.exportPermissionClaims`) and accepted (`spec.permissionClaims`). kcp keeps every
 * condition True while a claim is missing, so this comparison is the only way to know.
 */
export class WorkspaceClaims {
  readonly #verbs: ReadonlyMap<string, ReadonlySet<string>>;
  /** Name of the APIBinding, for messages; undefined where the workspace shows none. */
  readonly apiBinding: string | undefined;

  readonly #starred: ReadonlySet<string>;

  /** @param starred claims that are accepted with the verb `*`, for which kcp grants nothing */
  constructor(
    verbs: ReadonlyMap<string, ReadonlySet<string>>,
    apiBinding: string | undefined,
    starred: ReadonlySet<string> = new Set(),
  ) {
    this.#verbs = verbs;
    this.apiBinding = apiBinding;
    this.#starred = starred;
  }

  /** For messages that ask to accept the claim: why it does not count although it looks accepted. */
  hint(resource: GroupResource): string {
    return this.#starred.has(groupResourceKey(resource))
      ? ' It is accepted there with the verb *, as apis.kcp.io/v1alpha1 does: list the verbs that the export claims instead, in apis.kcp.io/v1alpha2.'
      : '';
  }

  /** True when all of the verbs are granted. */
  allows(resource: GroupResource, ...verbs: readonly string[]): boolean {
    const granted = this.#verbs.get(groupResourceKey(resource));
    return granted !== undefined && (granted.has('*') || verbs.every((verb) => granted.has(verb)));
  }

  /** Those of the verbs that are granted, in the order asked for. */
  granted(resource: GroupResource, verbs: readonly string[]): readonly string[] {
    return verbs.filter((verb) => this.allows(resource, verb));
  }
}

/**
 * @param apiBindings the workspace's APIBindings as far as they can be seen. Of several to the client
 *   export a verb counts only when each of them grants it.
 */
export function readClaims(
  apiBindings: Iterable<KubeObject>,
  home: ExportHome,
  clientExport: string,
): WorkspaceClaims {
  const ours = [...apiBindings].filter((object) => refersTo(object, home, clientExport));
  const live = ours.filter((object) => !isDeleting(object));
  const considered = live.length > 0 ? live : ours;
  const [first, ...others] = considered.map(grantedVerbs);
  const verbs = new Map(first);
  for (const other of others) {
    for (const [resource, mine] of verbs) {
      const theirs = other.get(resource) ?? new Set<string>();
      verbs.set(resource, new Set([...mine].filter((verb) => theirs.has(verb))));
    }
  }
  const starred = new Set(considered.flatMap(starredClaims).filter((key) => !verbs.get(key)?.has('*')));
  return new WorkspaceClaims(verbs, considered[0]?.metadata.name, starred);
}

function starredClaims(apiBinding: KubeObject): string[] {
  return objectsAt(apiBinding, 'spec', 'permissionClaims')
    .filter((claim) => claim['state'] === 'Accepted' && textsAt(claim, 'verbs').includes('*'))
    .map(keyOf);
}

function grantedVerbs(apiBinding: KubeObject): Map<string, ReadonlySet<string>> {
  const asked = new Map(
    objectsAt(apiBinding, 'status', 'exportPermissionClaims').map((claim) => [keyOf(claim), claim]),
  );
  const granted = new Map<string, ReadonlySet<string>>();
  for (const claim of objectsAt(apiBinding, 'spec', 'permissionClaims')) {
    const wanted = asked.get(keyOf(claim));
    if (claim['state'] !== 'Accepted' || wanted === undefined) continue;
    // As kcp compares them: `*` is one more verb, and meets nothing but another `*`.
    const wantedVerbs = new Set(textsAt(wanted, 'verbs'));
    const verbs = new Set(textsAt(claim, 'verbs').filter((verb) => wantedVerbs.has(verb)));
    granted.set(keyOf(claim), verbs);
  }
  return granted;
}

/** Group and resource of a claim; the core group may be left out. */
export function readGroupResource(claim: JsonObject): GroupResource {
  return { group: textAt(claim, 'group') ?? '', resource: textAt(claim, 'resource') ?? '' };
}

function keyOf(claim: JsonObject): string {
  return groupResourceKey(readGroupResource(claim));
}
