import type { ServerCredentials } from '../../kube/credentials.js';
import { CONTRACT_NAMESPACE_UID_ANNOTATION, EXPORT_REQUEST_ANNOTATION } from '../../api/markers.js';
import type {
  AcceptedClaim,
  BindingAssignment,
  ExportRequestPlan,
  Stage,
} from '../../syncer/protocol/assignment.js';
import type { Account } from '../../state/records.js';
import { poolKey } from '../keys.js';
import type { BindingSpec } from '../views.js';
import type { BindingObservation } from './observation.js';

export type AssignmentContent = Omit<BindingAssignment, 'revision'>;

/**
 * Stands in for a provider whose account is gone, so that a forced release can still take the finalizers off
 * the consumer's objects. The top-level domain is reserved and never resolves (RFC 2606).
 */
const NO_PROVIDER: ServerCredentials = { server: 'https://provider.invalid', auth: { kind: 'none' } };

/** The worker that has this is to write to no provider. */
export function isWithoutProvider({ provider }: Pick<AssignmentContent, 'provider'>): boolean {
  return provider.credentials.server === NO_PROVIDER.server;
}

/**
 * UID of the contract namespace that the binding's copies are in, from the time when the export was made.
 * Undefined before that.
 */
export function recordedContractUid(observed: Pick<BindingObservation, 'generated'>): string | undefined {
  return observed.generated?.metadata.annotations?.[CONTRACT_NAMESPACE_UID_ANNOTATION];
}

/** The account leads to another contract namespace than the one that holds the binding's copies. */
export function isOtherAccount(observed: BindingObservation, account: Account): boolean {
  const recorded = recordedContractUid(observed);
  return (
    recorded !== undefined &&
    account.contractNamespaceUid !== undefined &&
    account.contractNamespaceUid !== recorded
  );
}

/**
 * The export request on the provider: named after the template, else after the binding. Without an offer of
 * that name nothing is requested: request or export must be there already.
 */
export function exportRequest(observed: BindingObservation, account: Account | undefined): ExportRequestPlan {
  const { spec } = observed;
  const recorded = observed.generated?.metadata.annotations?.[EXPORT_REQUEST_ANNOTATION];
  const name = recorded ?? spec.template ?? observed.ref.name;
  if (spec.template === undefined) {
    if (spec.resources === undefined) return { name };
    return {
      name,
      create: {
        resources: spec.resources,
        permissionClaims: [],
        namespaces: [],
        schemaUpdatePolicy: 'Always',
      },
    };
  }
  const offer = account?.offers.find(({ template }) => template === spec.template);
  if (offer === undefined) return { name };
  return {
    name,
    create: {
      resources: offer.resources,
      permissionClaims: offer.permissionClaims.map(({ group, resource, selector }) => ({
        ...(group === '' ? {} : { group }),
        resource,
        selector,
      })),
      namespaces: offer.namespaces ?? [],
      schemaUpdatePolicy: offer.schemaUpdatePolicy ?? 'Never',
    },
  };
}

/** The whole assignment of a stage. `account` undefined only where a forced release gives up on the provider. */
export function assignmentOf(
  observed: BindingObservation,
  stage: Stage,
  inputs: { readonly account: Account | undefined; readonly claims: readonly AcceptedClaim[] },
): AssignmentContent {
  const { ref, spec, access } = observed;
  const { account, claims } = inputs;
  const reachesConsumer = access.kind === 'served' && (stage === 'sync' || stage === 'drain');
  return {
    key: poolKey(ref.cluster, ref.uid),
    stage,
    cluster: ref.cluster,
    bindingName: ref.name,
    bindingUid: ref.uid,
    provider: providerOf(observed, account),
    request: exportRequest(observed, account),
    ...(reachesConsumer ? { consumer: access.access } : {}),
    claims,
    ...policies(spec),
    force: observed.force && observed.deleting,
    ...heartbeat(observed),
    namespacesInUse: stage === 'leave' ? (observed.namespacesInUse ?? []) : [],
  };
}

function providerOf(
  observed: BindingObservation,
  account: Account | undefined,
): AssignmentContent['provider'] {
  const uid = recordedContractUid(observed) ?? account?.contractNamespaceUid;
  return {
    credentials: account?.credentials ?? NO_PROVIDER,
    contractNamespace: account?.contractNamespace ?? 'unknown',
    ...(uid === undefined ? {} : { contractNamespaceUid: uid }),
  };
}

function policies(
  spec: BindingSpec,
): Pick<AssignmentContent, 'conflictPolicy' | 'deletionPolicy' | 'paused'> {
  return {
    conflictPolicy: spec.conflictPolicy ?? 'Fail',
    deletionPolicy: spec.deletionPolicy ?? 'Delete',
    paused: spec.paused ?? false,
  };
}

function heartbeat({
  beats,
  connection,
  namespace,
}: BindingObservation): Pick<AssignmentContent, 'heartbeat'> {
  return beats && connection.kind === 'present'
    ? { heartbeat: { secretNamespace: namespace, secretName: connection.stateName } }
    : {};
}
