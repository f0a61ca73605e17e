import type { KubeObject } from '../../src/kube/object.js';
import type { KubeClient } from '../../src/kube/client.js';
import { isJsonObject } from '../../src/kube/json-value.js';
import { isStatus } from '../../src/kube/errors.js';
import { consumerUid, DATABASES, sizeOf } from './databases.js';
import type { Tenant } from './tenant.js';

/** What both sides have, compared with what users want. Names in lists are `workspace/name` or `namespace/name`. */
export interface Comparison {
  readonly expected: number;
  /** There, with one copy that says the same, and its status. */
  readonly found: number;
  /** Wanted, and not there, or without a copy. */
  readonly lost: string[];
  /** There, and not (yet) as wanted. */
  readonly behind: string[];
  readonly duplicated: string[];
  /** Copies of nothing, and objects that should be gone. */
  readonly leftOver: string[];
}

/** @param foreign names in workspaces that are taken at the provider, and never get a copy */
export async function compare(
  tenants: readonly Tenant[],
  provider: KubeClient,
  foreign: ReadonlySet<string>,
): Promise<Comparison> {
  const copies = (await provider.list(DATABASES)).items;
  const all: Comparison = { expected: 0, found: 0, lost: [], behind: [], duplicated: [], leftOver: [] };
  const living = new Set<string>();
  const isOfNothing = (copy: KubeObject): boolean => {
    const of = consumerUid(copy);
    return of !== undefined && !living.has(of);
  };
  let [expected, found] = [0, 0];
  for (const { client, ledger, workspace } of tenants) {
    const objects = await databasesOf(client);
    for (const { metadata } of objects) {
      living.add(metadata.uid ?? '');
      if (!ledger.wanted.has(metadata.name) && !foreign.has(metadata.name))
        all.leftOver.push(`${workspace.path}/${metadata.name}`);
    }
    for (const [name, wanted] of ledger.wanted) {
      expected += 1;
      const place = `${workspace.path}/${name}`;
      const object = objects.find(({ metadata }) => metadata.name === name && metadata.uid === wanted.uid);
      const its = copies.filter((copy) => consumerUid(copy) === wanted.uid);
      const [copy] = its;
      if (object === undefined || copy === undefined) all.lost.push(place);
      else if (its.length > 1) all.duplicated.push(place);
      else if (!isServed(object, copy, wanted.sizeGiB)) all.behind.push(place);
      else found += 1;
    }
  }
  all.leftOver.push(
    ...copies.filter(isOfNothing).map(({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`),
  );
  return { ...all, expected, found };
}

function isServed(object: KubeObject, copy: KubeObject, sizeGiB: number): boolean {
  const status = isJsonObject(object['status']) ? object['status'] : {};
  return (
    sizeOf(object) === sizeGiB &&
    sizeOf(copy) === sizeGiB &&
    sizeOf(object, 'status') === sizeGiB &&
    status['observedGeneration'] === object.metadata.generation
  );
}

/** None where the API is not bound. */
async function databasesOf(client: KubeClient): Promise<readonly KubeObject[]> {
  try {
    return (await client.list(DATABASES)).items;
  } catch (error) {
    if (isStatus(error, 404)) return [];
    throw error;
  }
}
