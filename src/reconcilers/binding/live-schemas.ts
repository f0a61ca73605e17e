import type { KubeObject } from '../../kube/object.js';
import { groupResourceKey } from '../claims.js';
import { objectsAt, textAt, textsAt } from '../views.js';
import type { LiveSchema } from './schema-plan.js';

/**
 * What the generated export serves now: from its own spec, with the storage versions that kcp notes on the
 * APIBinding; from the APIBinding alone while the export is missing.
 */
export function liveSchemas(
  generated: KubeObject | undefined,
  apiBinding: KubeObject | undefined,
): LiveSchema[] {
  const bound = objectsAt(apiBinding, 'status', 'boundResources').map((resource) => ({
    group: textAt(resource, 'group') ?? '',
    resource: textAt(resource, 'resource') ?? '',
    name: textAt(resource, 'schema', 'name') ?? '',
    spec: undefined,
    storageVersions: textsAt(resource, 'storageVersions'),
  }));
  if (generated === undefined) return bound;
  const versions = new Map(bound.map((schema) => [groupResourceKey(schema), schema.storageVersions]));
  return objectsAt(generated, 'spec', 'resources').map((resource) => {
    const served = { group: textAt(resource, 'group') ?? '', resource: textAt(resource, 'name') ?? '' };
    return {
      ...served,
      name: textAt(resource, 'schema') ?? '',
      spec: undefined,
      storageVersions: versions.get(groupResourceKey(served)) ?? [],
    };
  });
}

/** Names of the schemas that kcp still serves in the workspace. */
export function boundSchemaNames(apiBinding: KubeObject | undefined): readonly string[] {
  return objectsAt(apiBinding, 'status', 'boundResources').flatMap(
    (resource) => textAt(resource, 'schema', 'name') ?? [],
  );
}
