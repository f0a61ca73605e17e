import type { ConditionState } from '../../api/conditions.js';
import { groupResourceKey, groupResourceText } from '../claims.js';
import { detail, unknown, yes } from '../conditions.js';
import { liveSchemas } from './live-schemas.js';
import type { SchemaPlan } from './manifests.js';
import type { BindingObservation } from './observation.js';
import type { KeptVersion } from './schema-plan.js';

/** Versions that a message names. */
const MAX_KEPT = 10;

/** Condition `SchemaInSync`: does the workspace serve what the provider describes, and if not, how they differ. */
export function schemaCondition(observed: BindingObservation): ConditionState {
  const { latest, schemas } = observed;
  const reported = latest?.conditions.SchemaInSync;
  if (reported?.status === 'False') return reported;
  if (schemas?.kind === 'refused') return schemas.condition;
  if (schemas === undefined)
    return reported ?? unknown('Pending', "The provider's schema has not been read yet.");
  if (isInstalling(observed, schemas))
    return unknown('Pending', `The schema is being installed.${lastTry(observed)}`);
  const kept = schemas.kept.length === 0 ? undefined : versionKept(schemas.kept, observed);
  if (!isUnfollowed(reported)) return kept ?? inSync(reported);
  return kept === undefined ? reported : { ...reported, message: `${reported.message} ${kept.message}` };
}

/** With the words of the report, which say what is served in a reduced form. */
function inSync(reported: ConditionState | undefined): ConditionState {
  return yes('InSync', reported?.status === 'True' ? reported.message : '');
}

function isInstalling(
  observed: BindingObservation,
  planned: { readonly schemas: readonly SchemaPlan[] },
): boolean {
  const { generated, missing } = observed;
  return generated === undefined || (missing?.schemas.length ?? 0) > 0 || !isFollowed(observed, planned);
}

/** The workspace serves what the provider's contract says; whether that is the provider's last word is unknown. */
export function isUnfollowed(state: ConditionState | undefined): state is ConditionState {
  return state?.reason === 'NotFollowed';
}

/**
 * kcp serves what is planned; that takes some seconds after each change. APIs that an APIBinding still lists from
 * a former state of the export are never taken off it, so they are no reason to wait.
 */
function isFollowed(
  { apiBinding }: BindingObservation,
  { schemas }: { readonly schemas: readonly SchemaPlan[] },
): boolean {
  const bound = apiBinding.kind === 'found' ? liveSchemas(undefined, apiBinding.object) : [];
  const boundTo = new Map(bound.map((schema) => [groupResourceKey(schema), schema.name]));
  return schemas.every((schema) => (boundTo.get(groupResourceKey(schema)) ?? schema.name) === schema.name);
}

/** Steps are retried for ever; what stops them is shown meanwhile. */
function lastTry({ failure }: BindingObservation): string {
  return failure === undefined ? '' : ` The last try failed: ${failure.message}`;
}

/** Nothing is lost and nobody has to act, but what is served differs from what the provider describes. */
function versionKept(kept: readonly KeptVersion[], { apiBinding }: BindingObservation): ConditionState {
  const shown = kept
    .slice(0, MAX_KEPT)
    .map(
      ({ group, resource, version, instead }) =>
        `${version} of ${groupResourceText({ group, resource })} (use ${instead})`,
    );
  if (kept.length > MAX_KEPT) shown.push(`and ${kept.length - MAX_KEPT} more`);
  const where = apiBinding.kind === 'found' ? ` of APIBinding ${apiBinding.object.metadata.name}` : '';
  return yes(
    'VersionKept',
    `The provider does not serve version ${detail(shown.join(', '))}. This workspace still serves it, deprecated and last, because kcp may hold objects in it (status.boundResources[].storageVersions${where}) and could not unbind the API without it. Everything else is as the provider describes. This ends when the provider serves the version again, or when this binding is deleted and created again.`,
  );
}
