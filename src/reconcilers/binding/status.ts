import { isJsonObject } from '../../kube/json-value.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { BindingReport } from '../../syncer/protocol/report.js';
import { groupResourceKey } from '../claims.js';
import { mergeConditions } from '../conditions.js';
import { objectsAt, textAt } from '../views.js';
import type { BindingStatus } from '../views.js';
import type { BindingObservation } from './observation.js';
import { generatedNames } from './owner.js';
import type { BindingPlan } from './plan.js';
import { servableSchemas } from './schema-plan.js';

type StatusApi = NonNullable<BindingStatus['apis']>[number];

/** Figures are written at most that often. */
export const FIGURES_MS = 10_000;

/**
 * The whole status of a binding. Nothing of what stands there now is taken over but transition times, and for
 * a while after a restart what only a worker can tell.
 */
export function bindingStatusOf(
  plan: NonNullable<BindingPlan['status']>,
  observed: BindingObservation,
  context: { readonly previous: BindingStatus; readonly generation: number | undefined },
): JsonObject {
  const { previous, generation } = context;
  const apis = apisOf(observed, previous);
  const sync = observed.latest === undefined ? previous.sync : figures(observed.latest);
  const bound = observed.apiBinding.kind === 'found' ? observed.apiBinding.object.metadata.name : undefined;
  return {
    phase: plan.phase,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...(apis.length === 0 ? {} : { apis: apis.map((api) => ({ ...api })) }),
    ...(observed.generated === undefined
      ? {}
      : { apiExport: { path: observed.home.path, name: generatedNames(observed.ref).exportName } }),
    ...(bound === undefined ? {} : { apiBinding: bound }),
    ...(sync === undefined ? {} : { sync: { ...sync } }),
    conditions: mergeConditions(previous.conditions, plan.conditions, { now: observed.now, generation }).map(
      (condition) => ({ ...condition }),
    ),
  };
}

function figures({ sync }: BindingReport): NonNullable<BindingStatus['sync']> {
  const { objects, pending, failing, lastSyncTime } = sync;
  return { objects, pending, failing, ...(lastSyncTime === undefined ? {} : { lastSyncTime }) };
}

/** What is served, by the generated export; what it does not tell comes from the schemas. */
function apisOf(observed: BindingObservation, previous: BindingStatus): StatusApi[] {
  const planned = servableSchemas(observed.schemas)?.apis ?? [];
  const known = new Map(planned.map((api) => [api.schema, api]));
  const before = new Map((previous.apis ?? []).map((api) => [groupResourceKey(api), api]));
  const served = objectsAt(observed.generated, 'spec', 'resources').map((resource): StatusApi => {
    const group = textAt(resource, 'group') ?? '';
    const name = textAt(resource, 'name') ?? '';
    const schema = textAt(resource, 'schema') ?? '';
    const api = known.get(schema);
    if (api !== undefined) return statusApi(api);
    const old = before.get(groupResourceKey({ group, resource: name }));
    return old?.schema === schema ? old : { group, resource: name, schema };
  });
  return served.slice(0, 32);
}

function statusApi(api: {
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  readonly scope: 'Cluster' | 'Namespaced';
  readonly versions: readonly string[];
  readonly schema: string;
}): StatusApi {
  const { group, resource, kind, scope, versions, schema } = api;
  return { group, resource, kind, scope, versions: [...versions], schema };
}

/** How two statuses differ: only in figures, only in the time of the last sync, or in what matters at once. */
export function statusChange(
  before: JsonObject,
  after: JsonObject,
  equal: (a: JsonObject, b: JsonObject) => boolean,
): 'none' | 'time' | 'figures' | 'full' {
  if (equal(before, after)) return 'none';
  const { sync: syncBefore, ...restBefore } = before;
  const { sync: syncAfter, ...restAfter } = after;
  if (!equal(restBefore, restAfter)) return 'full';
  const withoutTime = (sync: typeof syncBefore): JsonObject => {
    const counts: JsonObject = isJsonObject(sync) ? { ...sync } : {};
    delete counts['lastSyncTime'];
    return counts;
  };
  return equal(withoutTime(syncBefore), withoutTime(syncAfter)) ? 'time' : 'figures';
}
