import type { KubeClient } from '../../../src/kube/client.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/kube/json-value.js';
import type { CrdSpec } from './catalogue.js';

/**
 * What kcp must be told of an API: all that the provider's CRD says, but for what kcp cannot serve. Selectable fields do
 * not reach a bound schema; the rule for names is kcp's own default.
 */
export function expectedSpec({ group, names, scope, versions }: CrdSpec): JsonObject {
  return {
    group,
    names,
    scope,
    nameValidation: 'DNS1123Subdomain',
    versions: versions.map(({ schema, subresources, ...version }) => ({
      ...version,
      selectableFields: undefined,
      schema: servable(schema.openAPIV3Schema),
      ...(Object.keys(subresources ?? {}).length > 0 ? { subresources } : {}),
    })),
    ...(versions.length > 1 ? { conversion: { strategy: 'None' } } : {}),
  };
}

/** A schema in the documented reduced form: no atomic map that preserves unknown fields. */
export function servable(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(servable);
  if (!isJsonObject(value)) return value;
  const atomic =
    value['x-kubernetes-preserve-unknown-fields'] === true && value['x-kubernetes-map-type'] === 'atomic';
  return without(value, atomic ? ['x-kubernetes-map-type'] : [], servable);
}

/** kcp publishes beside a list type what kubectl's old kind of patch makes of it; Kubernetes does not. */
const PATCH_HINTS = ['x-kubernetes-patch-strategy', 'x-kubernetes-patch-merge-key'];

/** What a server publishes of a schema, without what only one of the two servers says. */
export function comparable(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isJsonObject(value)) return value;
  return without(value, [...PATCH_HINTS, 'x-kubernetes-selectable-fields'], comparable);
}

function without(
  value: JsonObject,
  keys: readonly string[],
  inner: (value: JsonValue) => JsonValue,
): JsonObject {
  const kept = Object.entries(value).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(kept.map(([key, each]) => [key, inner(each ?? null)]));
}

/** The same API in the other encoding of bound schemas: the bare JSON schema in each version. */
export function bareEncoding(spec: CrdSpec): JsonObject {
  return {
    ...spec,
    versions: spec.versions.map((version) => ({ ...version, schema: version.schema.openAPIV3Schema })),
  };
}

/** The schema of a kind as a server publishes it to clients, by OpenAPI v3. */
export async function publishedSchema(
  client: KubeClient,
  { group, version, kind }: { readonly group: string; readonly version: string; readonly kind: string },
): Promise<JsonObject | undefined> {
  const document = await client.raw('GET', `/openapi/v3/apis/${group}/${version}`);
  const components = isJsonObject(document) ? document['components'] : undefined;
  const schemas = isJsonObject(components) ? components['schemas'] : undefined;
  return Object.values(isJsonObject(schemas) ? schemas : {})
    .filter(isJsonObject)
    .find((schema) => {
      const kinds = schema['x-kubernetes-group-version-kind'];
      return (
        Array.isArray(kinds) &&
        kinds.filter(isJsonObject).some((each) => each['kind'] === kind && each['group'] === group)
      );
    });
}
