import { untrustedText } from '../api/untrusted-text.js';
import { findLosses } from './compare-json-schema.js';
import {
  MAX_VERSIONS,
  syncVersionOf,
  type ResourceSchemaSpec,
  type SchemaVersion,
} from './resource-schema.js';

const MAX_DIFFERENCES = 20;
const MAX_DIFFERENCE_LENGTH = 300;

export type Comparison =
  | {
      readonly compatible: true;
      /** The provider's new schema, plus versions that stored objects still need. */
      readonly spec: ResourceSchemaSpec;
    }
  | { readonly compatible: false; readonly differences: readonly string[] };

/**
 * Whether the generated export may be pointed from the schema that is live to the provider's next one. kcp checks
 * nothing of this, and a wrong step wedges the binding or loses the consumer's data: group, plural, kind and scope must
 * stay; every version in which kcp may have stored objects (`storageVersions`, from the APIBinding's status) must
 * stay and be served; no stored value may be pruned or misread.
 *
 * @param foreign what somebody else put in the place of `live`: only its versions count
 */
export function compareSchemas(
  live: ResourceSchemaSpec,
  next: ResourceSchemaSpec,
  storageVersions: readonly string[],
  foreign?: ResourceSchemaSpec,
): Comparison {
  const { spec, unknown } = keepStoredVersions(next, [live, foreign], storageVersions);
  const differences = [
    ...identityChanges(live, next),
    ...dataLosses(live, next),
    ...unknown.map((name) => `version ${name}: kcp may hold objects in it, and neither schema describes it`),
  ];
  if (spec.versions.length > MAX_VERSIONS)
    differences.push(`the new versions and those still in storage are more than ${MAX_VERSIONS}`);
  if (differences.length > 0) return { compatible: false, differences: bounded(differences) };
  return { compatible: true, spec };
}

/**
 * The next schema with all versions in which kcp may hold objects. kcp empties a binding that goes away version by
 * version through the API: a stored version that is missing (429 for ever) or not served (404) hangs the unbinding and
 * the workspace's deletion. So those that the provider dropped, or stopped to serve, are served on, as deprecated, and
 * stand last, so that the version that is synced stays the provider's first served one.
 *
 * @param known schemas to take such versions from, the best first
 */
export function keepStoredVersions(
  next: ResourceSchemaSpec,
  known: readonly (ResourceSchemaSpec | undefined)[],
  storageVersions: readonly string[],
): { readonly spec: ResourceSchemaSpec; readonly unknown: readonly string[] } {
  const unknown: string[] = [];
  const retired: SchemaVersion[] = [];
  for (const name of new Set(storageVersions)) {
    const offered = findVersion(next, name);
    if (offered?.served === true) continue;
    const version = offered ?? firstVersion(known, name);
    if (version === undefined) unknown.push(name);
    else retired.push(retire(version, next));
  }
  if (retired.length === 0) return { spec: next, unknown };
  const names = new Set(retired.map((version) => version.name));
  const versions = [...next.versions.filter((version) => !names.has(version.name)), ...retired];
  return {
    spec: { ...next, versions, ...(versions.length > 1 ? { conversion: { strategy: 'None' } } : {}) },
    unknown,
  };
}

/** Names of the versions that `spec` serves only because of `keepStoredVersions`: `next` does not serve them. */
export function keptVersions(next: ResourceSchemaSpec, spec: ResourceSchemaSpec): readonly string[] {
  return spec.versions
    .filter(({ name, served }) => served && findVersion(next, name)?.served !== true)
    .map(({ name }) => name);
}

function identityChanges(live: ResourceSchemaSpec, next: ResourceSchemaSpec): string[] {
  const pairs: [string, string, string][] = [
    ['group', live.group, next.group],
    ['plural name', live.names.plural, next.names.plural],
    ['kind', live.names.kind, next.names.kind],
    ['scope', live.scope, next.scope],
  ];
  return pairs
    .filter(([, before, after]) => before !== after)
    .map(([what, before, after]) => `${what}: ${before} became ${after}`);
}

/**
 * Each version against its successor of the same name, the synced version against the new synced one, and the stored
 * one against the new stored one: with conversion None, what is written in one version is read and kept through the
 * schema of another.
 */
function dataLosses(live: ResourceSchemaSpec, next: ResourceSchemaSpec): string[] {
  const losses: string[] = [];
  for (const version of live.versions) {
    const successor = findVersion(next, version.name);
    if (successor !== undefined) losses.push(...lossesBetween(version, successor, `version ${version.name}`));
  }
  const [read, stored] = [move(live, next, syncVersionOf), move(live, next, storedVersionOf)];
  losses.push(...lossesOnMove(read, 'read'));
  if (stored.before !== read.before || stored.after !== read.after)
    losses.push(...lossesOnMove(stored, 'stored'));
  return losses;
}

interface Move {
  readonly before: SchemaVersion | undefined;
  readonly after: SchemaVersion | undefined;
}

function move(
  live: ResourceSchemaSpec,
  next: ResourceSchemaSpec,
  which: (spec: ResourceSchemaSpec) => SchemaVersion | undefined,
): Move {
  return { before: which(live), after: which(next) };
}

function lossesOnMove({ before, after }: Move, how: 'read' | 'stored'): string[] {
  if (before === undefined || after === undefined || before.name === after.name) return [];
  return lossesBetween(before, after, `version ${before.name} ${how} as ${after.name}`);
}

function storedVersionOf(spec: ResourceSchemaSpec): SchemaVersion | undefined {
  return spec.versions.find(({ storage }) => storage);
}

function lossesBetween(before: SchemaVersion, after: SchemaVersion, path: string): string[] {
  const mirroredStatus =
    before.subresources?.status !== undefined && after.subresources?.status !== undefined;
  return findLosses(before.schema, after.schema, { path: `${path}: `, mirroredStatus });
}

function findVersion(spec: ResourceSchemaSpec, name: string): SchemaVersion | undefined {
  return spec.versions.find((version) => version.name === name);
}

function firstVersion(
  specs: readonly (ResourceSchemaSpec | undefined)[],
  name: string,
): SchemaVersion | undefined {
  const [first] = specs.flatMap((spec) => (spec === undefined ? [] : (findVersion(spec, name) ?? [])));
  return first;
}

function retire(version: SchemaVersion, next: ResourceSchemaSpec): SchemaVersion {
  const successor = syncVersionOf(next);
  const instead = successor === undefined ? '' : `; use ${successor.name}`;
  return {
    ...version,
    served: true,
    storage: false,
    deprecated: true,
    deprecationWarning: `the provider does not serve ${version.name} any more${instead}`,
  };
}

function bounded(differences: readonly string[]): string[] {
  const shown = differences
    .slice(0, MAX_DIFFERENCES)
    .map((difference) => untrustedText(difference, MAX_DIFFERENCE_LENGTH));
  if (differences.length > shown.length) shown.push(`and ${differences.length - shown.length} more`);
  return shown;
}
