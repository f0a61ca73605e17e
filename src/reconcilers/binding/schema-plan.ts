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
  /** An API that cannot follow stays as it is: it is still made again, and put right, where others take it away. */
  | {
      readonly kind: 'refused';
      readonly condition: ConditionState;
      /** What is served meanwhile; undefined where nothing is. */
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

interface Circumstances {
  readonly live: readonly LiveSchema[];
  /** Why kcp did not take a schema, by its name. */
  readonly refusals?: ReadonlyMap<string, string> | undefined;
}

/**
 * Which APIResourceSchemas the generated export shall have. The worker's schemas are checked again from
 * scratch; where something is served already, a schema only follows when kcp can take it in place without
 * losing or hiding an object. One that cannot follow stays as it is, and holds back no other.
 */
export function planSchemas(
  ref: BindingRef,
  reported: readonly ConvertedSchema[],
  { live, refusals = new Map() }: Circumstances,
): SchemaDecision {
  const followed: Following[] = [];
  const stuck: LiveSchema[] = [];
  const differences: string[] = [];
  const rejections: string[] = [];
  const byKey = new Map(live.map((schema) => [groupResourceKey(schema), schema]));
  for (const schema of reported) {
    const outcome = planOne(ref, schema, { byKey, refusals });
    if (outcome.kind === 'invalid')
      return { kind: 'refused', condition: outcome.condition, serving: keepSchemas(ref, live) };
    if (outcome.kind === 'follows') followed.push(outcome);
    else {
      differences.push(...outcome.differences);
      rejections.push(...outcome.rejections);
      if (outcome.served !== undefined) stuck.push(outcome.served);
    }
  }
  const offered = new Set(reported.map(groupResourceKey));
  for (const schema of live) {
    if (offered.has(groupResourceKey(schema))) continue;
    stuck.push(schema);
    differences.push(
      `${groupResourceText(schema)}: the provider does not export it any more, or no longer in a form that kcp can serve`,
    );
  }
  const usableNow = usable(
    followed.map(({ api }) => api),
    followed.flatMap(({ kept }) => kept),
  );
  if (rejections.length + differences.length === 0) return usableNow;
  const condition = rejections.length === 0 ? incompatible(differences) : rejected(rejections);
  return { kind: 'refused', condition, serving: besides(ref, usableNow, stuck) };
}

interface Following {
  readonly kind: 'follows';
  readonly api: PlannedApi;
  readonly kept: readonly KeptVersion[];
}

type Outcome =
  | Following
  | {
      readonly kind: 'stuck';
      readonly served: LiveSchema | undefined;
      readonly differences: readonly string[];
      readonly rejections: readonly string[];
    }
  /** No conversion makes such a thing. */
  | { readonly kind: 'invalid'; readonly condition: ConditionState };

function planOne(
  ref: BindingRef,
  schema: ConvertedSchema,
  known: {
    readonly byKey: ReadonlyMap<string, LiveSchema>;
    readonly refusals: ReadonlyMap<string, string>;
  },
): Outcome {
  const checked = validateConverted(schema.specJson);
  if (!checked.ok) {
    const text = `${groupResourceText(schema)}: ${checked.path}: ${checked.message}`;
    return { kind: 'invalid', condition: no(checked.reason, detail(text)) };
  }
  const { group, resource } = checked.schema;
  const title = groupResourceText({ group, resource });
  const served = known.byKey.get(groupResourceKey({ group, resource }));
  const next = isServedAlready(ref, checked.schema, served)
    ? { spec: checked.spec, differences: [] }
    : nextSpec(served, checked.spec);
  const obstacles = [...next.differences, ...(schema.webhook === true ? unconverted(served, checked) : [])];
  if (obstacles.length > 0) {
    const differences = obstacles.map((difference) => `${title}: ${difference}`);
    return { kind: 'stuck', served, differences, rejections: [] };
  }
  const api = planApi(ref, next.spec, checked.annotations);
  const refusal = known.refusals.get(api.schema.name);
  if (refusal !== undefined)
    return { kind: 'stuck', served, differences: [], rejections: [`${title}: ${refusal}`] };
  const instead = api.served.syncVersion;
  const kept = keptVersions(checked.spec, next.spec).map((version) => ({
    group,
    resource,
    version,
    instead,
  }));
  return { kind: 'follows', api, kept };
}

/** The same content is served, and all that kcp may hold is described by it. */
function isServedAlready(
  ref: BindingRef,
  { group, resource, contentHash, versions }: ConvertedSchema,
  served: LiveSchema | undefined,
): boolean {
  return (
    served?.name === schemaName(ref, { plural: resource, group }, contentHash) &&
    served.storageVersions.every((name) => versions.includes(name))
  );
}

/** What follows the provider, beside what stays as it is; undefined where one of those cannot be made again. */
function besides(
  ref: BindingRef,
  followed: UsableSchemas,
  stuck: readonly LiveSchema[],
): UsableSchemas | undefined {
  const staying = stuck.length === 0 ? usable([]) : keepSchemas(ref, stuck);
  if (staying === undefined || followed.schemas.length + staying.schemas.length === 0) return undefined;
  return {
    ...followed,
    schemas: [...followed.schemas, ...staying.schemas],
    apis: [...followed.apis, ...staying.apis],
  };
}

interface PlannedApi {
  readonly schema: SchemaPlan;
  readonly served: ServedApi;
}

/** @param name of the schema that holds this spec already; by default that of the spec's content */
function planApi(
  ref: BindingRef,
  spec: ResourceSchemaSpec,
  annotations: SchemaPlan['annotations'],
  name?: string,
): PlannedApi {
  const { group, resource, kind, scope, versions, syncVersion, contentHash } = describe(spec);
  const schema = name ?? schemaName(ref, { plural: resource, group }, contentHash);
  const hasStatus = syncVersionOf(spec)?.subresources?.status !== undefined;
  return {
    schema: { name: schema, group, resource, spec, annotations },
    served: { group, resource, kind, scope, versions, syncVersion, hasStatus, schema },
  };
}

function usable(apis: readonly PlannedApi[], kept: readonly KeptVersion[] = []): UsableSchemas {
  return {
    kind: 'usable',
    schemas: apis.map(({ schema }) => schema),
    apis: apis.map(({ served }) => served),
    kept,
  };
}

/**
 * What is served now, as a decision: for the time in which no worker has reported schemas, so that a generated
 * export which an admin deleted can come back without the provider.
 */
export function keepSchemas(ref: BindingRef, live: readonly LiveSchema[]): UsableSchemas | undefined {
  const apis: PlannedApi[] = [];
  for (const { group, spec: own, foreign, storageVersions, name } of live) {
    if (own === undefined) return undefined;
    // One that is not there, which anybody may have named, has no spec either.
    const isOwn = isSchemaOf(ref, name);
    const { spec } = isOwn ? { spec: own } : keepStoredVersions(own, [foreign], storageVersions);
    apis.push(planApi(ref, spec, schemaAnnotations(group), isOwn ? name : undefined));
  }
  return live.length === 0 ? undefined : usable(apis);
}

/** What kcp holds in other versions than the one that is left, where only the provider's webhook can convert it. */
function unconverted(
  live: LiveSchema | undefined,
  { schema }: { readonly schema: ConvertedSchema },
): string[] {
  if (live === undefined) return [];
  const synced = live.spec === undefined ? undefined : syncVersionOf(live.spec)?.name;
  const held = new Set([...live.storageVersions, ...(synced === undefined ? [] : [synced])]);
  return [...held]
    .filter((name) => !schema.versions.includes(name))
    .map(
      (name) =>
        `version ${name}: the provider converts it to ${schema.syncVersion} by a webhook, which kcp cannot call`,
    );
}

function nextSpec(
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

function rejected(rejections: readonly string[]): ConditionState {
  return no('Rejected', `kcp refuses the schema of ${rejections.join('; ')}. Ask the provider to mend it.`);
}

function incompatible(differences: readonly string[]): ConditionState {
  const shown = differences.slice(0, 20).map(detail).join('; ');
  return no(
    'Incompatible',
    `The provider's schema has changed in a way that kcp cannot take over in place, so that API is still served as before. ${shown}. Ask the provider to undo this, or delete this binding and create it again (with another account of the connection, where the provider keeps the old export).`,
  );
}
