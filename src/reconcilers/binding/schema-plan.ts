import type { ConditionState } from '../../api/conditions.js';
import { isSchemaOf, schemaName } from '../../api/names.js';
import { compareSchemas, keepStoredVersions, keptVersions } from '../../schema/compare.js';
import { describe } from '../../schema/convert.js';
import { schemaAnnotations } from '../../schema/groups.js';
import { validateConverted } from '../../schema/validate.js';
import { syncVersionOf, type ResourceSchemaSpec } from '../../schema/resource-schema.js';
import type { ConvertedSchema } from '../../syncer/protocol/report.js';
import { groupResourceKey, groupResourceText } from '../claims.js';
import { detail, no } from '../conditions.js';
import type { SchemaPlan } from './manifests.js';
import type { BindingRef } from './owner.js';

/** A schema that the generated export serves now. */
export interface LiveSchema {
  readonly group: string;
  readonly resource: string;
  readonly name: string;
  /** Undefined when the object is gone. */
  readonly spec: ResourceSchemaSpec | undefined;
  /** Set when somebody else pointed the export at a schema that is not this binding's; `spec` is then the own last one. */
  readonly foreign?: ResourceSchemaSpec | undefined;
  /** Versions in which kcp may hold objects, from the APIBinding's status. */
  readonly storageVersions: readonly string[];
}

/** One API as it is served, or shall be. */
export interface ServedApi {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly versions: readonly string[];
  readonly syncVersion: string;
  /** The synced version has a status of its own. */
  readonly hasStatus: boolean;
  readonly schema: string;
}

/** A version that is served although the provider does not serve it, because kcp may hold objects in it. */
export interface KeptVersion {
  readonly group: string;
  readonly resource: string;
  readonly version: string;
  /** The version that the provider serves in its place, and that is synced. */
  readonly instead: string;
}

export interface UsableSchemas {
  readonly kind: 'usable';
  readonly schemas: readonly SchemaPlan[];
  readonly apis: readonly ServedApi[];
  /** Empty while no worker has reported. */
  readonly kept: readonly KeptVersion[];
}

export type SchemaDecision =
  | UsableSchemas
  /** What is served stays as it is: it is still made again, and put right, where others take it away. */
  | {
      readonly kind: 'refused';
      readonly condition: ConditionState;
      /** Undefined where nothing is served. */
      readonly serving?: UsableSchemas | undefined;
    };

/** What the generated export shall serve, whether the provider's last word can be followed or not. */
export function servableSchemas(decision: SchemaDecision | undefined): UsableSchemas | undefined {
  return decision?.kind === 'refused' ? decision.serving : decision;
}

/** What shall be served, and what is served now. */
export interface SchemaView {
  /** Undefined while nothing is known. */
  readonly decision: SchemaDecision | undefined;
  readonly served: readonly ServedApi[];
}

/**
 * Which APIResourceSchemas the generated export shall have. The worker's schemas are checked again from
 * scratch; where something is served already, a schema only follows when kcp can take it in place without
 * losing or hiding an object.
 */
export function planSchemas(
  ref: BindingRef,
  reported: readonly ConvertedSchema[],
  live: readonly LiveSchema[],
): SchemaDecision {
  const schemas: SchemaPlan[] = [];
  const apis: ServedApi[] = [];
  const kept: KeptVersion[] = [];
  const differences: string[] = [];
  const byKey = new Map(live.map((schema) => [groupResourceKey(schema), schema]));
  for (const schema of reported) {
    const checked = validateConverted(schema.specJson);
    if (!checked.ok) {
      const text = `${groupResourceText(schema)}: ${checked.path}: ${checked.message}`;
      return { kind: 'refused', condition: no(checked.reason, detail(text)) };
    }
    const served = byKey.get(
      groupResourceKey({ group: checked.schema.group, resource: checked.schema.resource }),
    );
    const same =
      schemaName(
        ref,
        { plural: checked.schema.resource, group: checked.schema.group },
        checked.schema.contentHash,
      ) === served?.name;
    const next = same ? { spec: checked.spec, differences: [] } : following(served, checked.spec);
    if (next.differences.length > 0) {
      const title = groupResourceText(checked.schema);
      differences.push(...next.differences.map((difference) => `${title}: ${difference}`));
      continue;
    }
    const final = describe(next.spec);
    const { group, resource, kind, scope, versions, syncVersion } = final;
    const name = schemaName(ref, { plural: resource, group }, final.contentHash);
    for (const version of keptVersions(checked.spec, next.spec))
      kept.push({ group, resource, version, instead: syncVersion });
    schemas.push({ name, group, resource, spec: next.spec, annotations: checked.annotations });
    apis.push({
      group,
      resource,
      kind,
      scope,
      versions,
      syncVersion,
      hasStatus: hasStatus(next.spec),
      schema: name,
    });
  }
  const offered = new Set(reported.map(groupResourceKey));
  for (const schema of live) {
    if (!offered.has(groupResourceKey(schema))) {
      differences.push(
        `${groupResourceText(schema)}: the provider does not export it any more, or no longer in a form that kcp can serve`,
      );
    }
  }
  if (differences.length > 0) return { kind: 'refused', condition: incompatible(differences) };
  return { kind: 'usable', schemas, apis, kept };
}

/**
 * What is served now, as a decision: for the time in which no worker has reported schemas, so that a generated
 * export which an admin deleted can come back without the provider.
 */
export function keepSchemas(ref: BindingRef, live: readonly LiveSchema[]): UsableSchemas | undefined {
  const schemas: SchemaPlan[] = [];
  const apis: ServedApi[] = [];
  for (const { group, resource, spec: own, foreign, storageVersions, ...served } of live) {
    if (own === undefined) return undefined;
    // One that is not there, which anybody may have named, has no spec either.
    const isOwn = isSchemaOf(ref, served.name);
    const { spec } = isOwn ? { spec: own } : keepStoredVersions(own, [foreign], storageVersions);
    const name = isOwn
      ? served.name
      : schemaName(ref, { plural: resource, group }, describe(spec).contentHash);
    schemas.push({ name, group, resource, spec, annotations: schemaAnnotations(group) });
    const { kind, scope, versions, syncVersion } = describe(spec);
    apis.push({
      group,
      resource,
      kind,
      scope,
      versions,
      syncVersion,
      hasStatus: hasStatus(spec),
      schema: name,
    });
  }
  return live.length === 0 ? undefined : { kind: 'usable', schemas, apis, kept: [] };
}

function hasStatus(spec: ResourceSchemaSpec): boolean {
  return syncVersionOf(spec)?.subresources?.status !== undefined;
}

function following(
  live: LiveSchema | undefined,
  next: ResourceSchemaSpec,
): { readonly spec: ResourceSchemaSpec; readonly differences: readonly string[] } {
  if (live?.spec === undefined) {
    const { spec, unknown } = keepStoredVersions(next, [live?.foreign], live?.storageVersions ?? []);
    return {
      spec,
      differences: unknown.map(
        (name) => `version ${name}: kcp may hold objects in it, and the provider dropped it`,
      ),
    };
  }
  const comparison = compareSchemas(live.spec, next, live.storageVersions, live.foreign);
  return comparison.compatible
    ? { spec: comparison.spec, differences: [] }
    : { spec: next, differences: comparison.differences };
}

function incompatible(differences: readonly string[]): ConditionState {
  const shown = differences.slice(0, 20).map(detail).join('; ');
  return no(
    'Incompatible',
    `The provider's schema has changed in a way that kcp cannot take over in place, so the API is still served as before. ${shown}. Ask the provider to undo this, or delete this binding and create it again (with another account of the connection, where the provider keeps the old export).`,
  );
}
