import { DESIRED_HASH_ANNOTATION } from '../../api/markers.js';
import type { KubeObject } from '../../kube/object.js';
import { groupResourceKey, readGroupResource } from '../claims.js';
import { isDeleting, objectsAt, textAt, textsAt } from '../views.js';
import { mayBind } from './api-bound.js';
import { exportRequest, recordedContractUid } from './assignment.js';
import type { Consent, ExportClaim } from './consent.js';
import { exportHash } from './manifests.js';
import type { ExportPlan, SchemaPlan } from './manifests.js';
import type { ApiBindingStep, PartStep } from './plan.js';
import type { BindingObservation, MissingParts } from './observation.js';
import { servableSchemas } from './schema-plan.js';

/**
 * What the generated export should be: from the worker's schemas, or, while there are none or they cannot be taken
 * over, what it is made of now, so that one which an admin deleted or changed comes back all the same.
 */
export function exportPlan(observed: BindingObservation, consent: Consent): ExportPlan | undefined {
  const { connection } = observed;
  const schemas = servableSchemas(observed.schemas);
  if (connection.kind === 'missing' || schemas === undefined) return undefined;
  const contractUid =
    recordedContractUid(observed) ??
    connection.account?.contractNamespaceUid ??
    observed.latest?.contractNamespaceUid;
  return {
    ref: observed.ref,
    namespace: observed.namespace,
    connection: { name: connection.name, uid: connection.uid },
    contractNamespaceUid: contractUid,
    request: exportRequest(observed, connection.account).name,
    deletionPolicy: observed.spec.deletionPolicy ?? 'Delete',
    schemas: schemas.schemas.map(({ name, group, resource }) => ({ name, group, resource })),
    claims: consent.exportClaims,
    bindByUser: !mayBind(observed),
  };
}

/** Identity first, export last: an export that carries the plan's hash proves all of its parts. */
export function provisionSteps(observed: BindingObservation, consent: Consent): PartStep[] {
  const { missing, generated } = observed;
  const plan = exportPlan(observed, consent);
  const schemas = servableSchemas(observed.schemas);
  if (plan === undefined || missing === undefined || schemas === undefined) return [];
  // Its key is what kcp keeps the objects under: a new one would hide every object behind another.
  if (missing.identity && identityInUse(observed)) return [];
  const steps: PartStep[] = [
    ...partSteps(missing, schemas.schemas),
    ...bindRoleSteps(missing),
    ...exportSteps(generated, plan),
  ];
  if (steps.length > 0 || observed.access.kind !== 'served') return steps;
  return missing.oldSchemas.map((schema) => ({ name: 'binding.schema.remove-old', schema }));
}

function partSteps(missing: MissingParts, schemas: readonly SchemaPlan[]): PartStep[] {
  const steps: PartStep[] = missing.identity ? [{ name: 'binding.identity.create' }] : [];
  for (const schema of schemas) {
    if (missing.schemas.includes(schema.name)) steps.push({ name: 'binding.schema.create', schema });
  }
  if (missing.account) steps.push({ name: 'binding.account.create' });
  if (missing.role) steps.push({ name: 'binding.role.apply' });
  if (missing.roleBinding) steps.push({ name: 'binding.role-binding.apply' });
  return steps;
}

function exportSteps(generated: KubeObject | undefined, plan: ExportPlan): PartStep[] {
  if (generated === undefined) return [{ name: 'binding.export.create', plan }];
  return isAsPlanned(generated, plan) ? [] : [{ name: 'binding.export.update', plan }];
}

/** It carries the plan's hash, and nobody has changed since what it serves and claims. */
export function isAsPlanned(generated: KubeObject, plan: ExportPlan): boolean {
  return (
    generated.metadata.annotations?.[DESIRED_HASH_ANNOTATION] === exportHash(plan) &&
    servesAsPlanned(generated, plan) &&
    sameList(
      objectsAt(generated, 'spec', 'permissionClaims').map((claim) => [
        groupResourceKey(readGroupResource(claim)),
        ...textsAt(claim, 'verbs'),
      ]),
      plan.claims.map((claim) => [groupResourceKey(claim), ...claim.verbs]),
    )
  );
}

/** Exactly the planned schemas. */
export function servesAsPlanned(generated: KubeObject, plan: ExportPlan): boolean {
  return sameList(
    objectsAt(generated, 'spec', 'resources').map((resource) => [
      textAt(resource, 'group') ?? '',
      textAt(resource, 'name') ?? '',
      textAt(resource, 'schema') ?? '',
    ]),
    plan.schemas.map(({ group, resource, name }) => [group, resource, name]),
  );
}

/** Without order. */
function sameList(a: readonly (readonly string[])[], b: readonly (readonly string[])[]): boolean {
  const text = (list: typeof a): string => JSON.stringify(list.map((each) => JSON.stringify(each)).sort());
  return text(a) === text(b);
}

function bindRoleSteps({ bindRole }: MissingParts): PartStep[] {
  if (bindRole === 'fine') return [];
  return [{ name: bindRole === 'missing' ? 'binding.bind-role.apply' : 'binding.bind-role.remove' }];
}

/** An export, or an APIBinding that we can see, has used the identity. */
export function identityInUse(observed: BindingObservation): boolean {
  if (textAt(observed.generated, 'status', 'identityHash') !== undefined) return true;
  return observed.apiBinding.kind === 'found' || observed.apiBinding.kind === 'several';
}

/** Makes the APIBinding, or brings its accepted claims to what both consents say. */
export function apiBindingSteps(observed: BindingObservation, consent: Consent): ApiBindingStep[] {
  const { apiBinding, generated } = observed;
  if (generated === undefined || isDeleting(generated) || !mayBind(observed)) return [];
  if (apiBinding.kind === 'none') return [{ name: 'binding.api-binding.create', consent }];
  if (apiBinding.kind !== 'found' || !apiBinding.ours || isDeleting(apiBinding.object)) return [];
  const { uid, resourceVersion } = apiBinding.object.metadata;
  if (uid === undefined || acceptsExactly(apiBinding.object, consent.exportClaims)) return [];
  return [{ name: 'binding.api-binding.update', consent, uid, resourceVersion }];
}

/** Those of the accepted claims that kcp grants by now: they stand on the APIBinding. */
export function grantedClaims(observed: BindingObservation, consent: Consent): Consent['accepted'] {
  const { apiBinding } = observed;
  if (apiBinding.kind !== 'found') return [];
  const granted = new Set(
    objectsAt(apiBinding.object, 'spec', 'permissionClaims')
      .filter((claim) => claim['state'] === 'Accepted')
      .map((claim) => groupResourceKey(readGroupResource(claim))),
  );
  return consent.accepted.filter((claim) => granted.has(groupResourceKey(claim)));
}

/** Compared without what kcp adds by itself (an empty identity hash) and without order. */
function acceptsExactly(apiBinding: KubeObject, claims: readonly ExportClaim[]): boolean {
  const listed = objectsAt(apiBinding, 'spec', 'permissionClaims').map((claim) => [
    groupResourceKey(readGroupResource(claim)),
    textAt(claim, 'state') ?? '',
    [...textsAt(claim, 'verbs')].sort().join(),
  ]);
  const wanted = claims.map((claim) => [groupResourceKey(claim), 'Accepted', [...claim.verbs].sort().join()]);
  return listed.sort().join('|') === wanted.sort().join('|');
}
