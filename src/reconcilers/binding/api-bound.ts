import { stringify } from 'yaml';
import type { ConditionState } from '../../api/conditions.js';
import { GVR } from '../../api/gvr.js';
import type { KubeObject } from '../../kube/object.js';
import { detail, no, unknown, yes } from '../conditions.js';
import { isDeleting, objectsAt, textAt } from '../views.js';
import type { ExportClaim } from './consent.js';
import { generatedApiBinding } from './manifests.js';
import type { BindingObservation } from './observation.js';
import { generatedNames } from './owner.js';

/**
 * kcp before its pull request 4233 never lets go of the name of a CRD that was established and deleted. It notes
 * names in an annotation that it makes again, from what is there, when it is missing.
 */
const LOST_LOCK =
  'If there is none any more, kcp holds the name of a CustomResourceDefinition that was deleted; let it look again: kubectl annotate logicalcluster cluster internal.apis.kcp.io/resource-bindings-';

/** What an APIBinding's own conditions say. Its `Ready` tells nothing about later troubles. */
export type BoundState =
  | { readonly kind: 'bound' }
  | { readonly kind: 'pending'; readonly message: string }
  | { readonly kind: 'conflict'; readonly message: string }
  | { readonly kind: 'schema-invalid'; readonly message: string };

export function boundState(apiBinding: KubeObject): BoundState {
  const conditions = objectsAt(apiBinding, 'status', 'conditions');
  for (const type of ['InitialBindingCompleted', 'BindingUpToDate']) {
    const condition = conditions.find((each) => each['type'] === type);
    if (condition?.['status'] !== 'False') continue;
    const message = detail(condition['message']);
    if (condition['reason'] === 'NamingConflicts') return { kind: 'conflict', message };
    if (condition['reason'] === 'APIResourceSchemaInvalid') return { kind: 'schema-invalid', message };
    return { kind: 'pending', message };
  }
  return textAt(apiBinding, 'status', 'phase') === 'Bound'
    ? { kind: 'bound' }
    : { kind: 'pending', message: 'kcp is binding the API.' };
}

/** The workspace lets the controller create and delete APIBindings in it. */
export function mayBind(observed: Pick<BindingObservation, 'claims'>): boolean {
  return observed.claims.allows(GVR.apiBindings, 'get', 'list', 'create', 'delete');
}

/** Condition `APIBound`: is the API served in the workspace, and if not, what a person has to do. */
export function apiBoundCondition(
  observed: BindingObservation,
  claims: readonly ExportClaim[],
): ConditionState {
  if (observed.workspaceDying) {
    return no('WorkspaceDeleting', 'The workspace is being deleted; nothing new is made in it.');
  }
  const { apiBinding } = observed;
  switch (apiBinding.kind) {
    case 'unknown':
      return unknown('Pending', apiBinding.message);
    case 'name-taken':
      return no(
        'ForeignAPIBinding',
        `APIBinding ${generatedNames(observed.ref).apiBinding} exists and refers to ${detail(apiBinding.refersTo)}. Delete it; the controller then makes its own.`,
      );
    case 'several':
      return no(
        'ForeignAPIBinding',
        `Several APIBindings refer to the generated export: ${apiBinding.names.slice(0, 10).join(', ')}. Keep one and delete the others: with two, kcp's answers are random.`,
      );
    case 'none':
      return withoutApiBinding(observed, claims);
    case 'found':
      return withApiBinding(observed, apiBinding.object);
  }
}

function withoutApiBinding(observed: BindingObservation, claims: readonly ExportClaim[]): ConditionState {
  if (observed.generated === undefined)
    return unknown('Pending', 'The API is bound once its schemas are there.');
  if (mayBind(observed)) {
    const failed = observed.failure === undefined ? '' : ` The last try failed: ${observed.failure.message}`;
    return unknown('Pending', `The API is being bound.${failed}`);
  }
  const yaml = stringify(generatedApiBinding(observed.ref, observed.home, claims));
  return no(
    'ClaimMissing',
    `The controller may not bind the API in this workspace. Either accept the permission claim apibindings.apis.kcp.io on APIBinding ${observed.claims.apiBinding ?? 'to the client export'} (with all verbs that the export claims), or bind APIExport ${observed.home.path}:${generatedNames(observed.ref).exportName} yourself, by applying:\n${yaml}`,
  );
}

function withApiBinding(observed: BindingObservation, object: KubeObject): ConditionState {
  if (isDeleting(object)) {
    return unknown(
      'Pending',
      `APIBinding ${object.metadata.name} is being deleted; it is made again when it is gone.`,
    );
  }
  const state = boundState(object);
  switch (state.kind) {
    case 'conflict':
      return no(
        'NameConflict',
        `The workspace already serves an API of this name: ${state.message}. Remove the other one (an APIBinding or a CustomResourceDefinition); kcp then binds this one by itself. ${LOST_LOCK}`,
      );
    case 'schema-invalid':
      return no('NotServed', `kcp cannot serve the schema: ${state.message}. Ask the provider to mend it.`);
    case 'pending':
      return unknown('Pending', state.message);
    case 'bound':
      break;
  }
  if (observed.access.kind === 'served') return yes('Bound');
  const why = observed.access.kind === 'not-served' ? observed.access.message : 'its URL is not known yet';
  return no(
    'NotServed',
    `Bound, but the API does not answer yet: ${detail(why)}. It is tried again; if this lasts, ask the platform admin to look at kcp.`,
  );
}
