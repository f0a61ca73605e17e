import { GVR } from '../../api/gvr.js';
import {
  BINDING_ANNOTATION,
  BINDING_UID_LABEL,
  COMPONENT_LABEL,
  CONNECTION_ANNOTATION,
  CONNECTION_UID_LABEL,
  CONTRACT_NAMESPACE_UID_ANNOTATION,
  DELETION_POLICY_ANNOTATION,
  DESIRED_HASH_ANNOTATION,
  EXPORT_REQUEST_ANNOTATION,
} from '../../api/markers.js';
import { digest } from '../../api/names.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import type { ResourceSchemaSpec } from '../../schema/resource-schema.js';
import type { ExportHome } from '../claims.js';
import type { ExportClaim } from './consent.js';
import { generatedLabels, generatedNames } from './owner.js';
import type { BindingRef } from './owner.js';

/** An APIResourceSchema of the generated export. */
export interface SchemaPlan {
  readonly name: string;
  readonly group: string;
  readonly resource: string;
  readonly spec: ResourceSchemaSpec;
  readonly annotations: Readonly<Record<string, string>>;
}

/** All that a generated export is made from. */
export interface ExportPlan {
  readonly ref: BindingRef;
  readonly namespace: string;
  readonly connection: { readonly name: string; readonly uid: string };
  readonly contractNamespaceUid: string | undefined;
  /** Name of the export request on the provider. */
  readonly request: string;
  readonly deletionPolicy: 'Delete' | 'Orphan';
  readonly schemas: readonly { readonly name: string; readonly group: string; readonly resource: string }[];
  readonly claims: readonly ExportClaim[];
  /** Users bind the export themselves (no accepted claim on apibindings). */
  readonly bindByUser: boolean;
}

/**
 * The identity kcp keeps an export's objects under: any text in key `key` of the Secret; kcp hashes it. kcp's
 * own are 256 random bits in unpadded base64url, and so are ours.
 */
export function identitySecret(ref: BindingRef, namespace: string, random: Uint8Array): KubeObject {
  const key = Buffer.from(random).toString('base64url');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: generatedNames(ref).identitySecret,
      namespace,
      labels: generatedLabels(ref),
      annotations: { [BINDING_ANNOTATION]: ref.name },
    },
    type: 'Opaque',
    data: { key: Buffer.from(key).toString('base64') },
  };
}

export function resourceSchema(ref: BindingRef, plan: SchemaPlan): KubeObject {
  return {
    apiVersion: 'apis.kcp.io/v1alpha1',
    kind: 'APIResourceSchema',
    metadata: {
      name: plan.name,
      labels: generatedLabels(ref),
      annotations: { [BINDING_ANNOTATION]: ref.name, ...plan.annotations },
    },
    spec: plan.spec,
  };
}

/** Hash of everything in the plan: an export that carries it was written after all of its parts. */
export function exportHash(plan: ExportPlan): string {
  return digest(
    'export',
    JSON.stringify([exportSpec(plan), exportAnnotations(plan), plan.connection.uid, plan.bindByUser]),
  );
}

export function generatedExport(plan: ExportPlan): KubeObject {
  const { ref } = plan;
  return {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: {
      name: generatedNames(ref).exportName,
      labels: { ...generatedLabels(ref), [CONNECTION_UID_LABEL]: plan.connection.uid },
      annotations: { ...exportAnnotations(plan), [DESIRED_HASH_ANNOTATION]: exportHash(plan) },
    },
    spec: exportSpec(plan),
  };
}

function exportAnnotations(plan: ExportPlan): Record<string, string> {
  return {
    [BINDING_ANNOTATION]: plan.ref.name,
    [CONNECTION_ANNOTATION]: plan.connection.name,
    [EXPORT_REQUEST_ANNOTATION]: plan.request,
    [DELETION_POLICY_ANNOTATION]: plan.deletionPolicy,
    ...(plan.contractNamespaceUid === undefined
      ? {}
      : { [CONTRACT_NAMESPACE_UID_ANNOTATION]: plan.contractNamespaceUid }),
  };
}

function exportSpec(plan: ExportPlan): JsonObject {
  return {
    identity: { secretRef: { namespace: plan.namespace, name: generatedNames(plan.ref).identitySecret } },
    resources: plan.schemas.map(({ name, group, resource }) => ({
      group,
      name: resource,
      schema: name,
      storage: { crd: {} },
    })),
    permissionClaims: plan.claims.map(({ group, resource, verbs }) => ({
      group,
      resource,
      verbs: [...verbs],
    })),
  };
}

export function serviceAccount(ref: BindingRef, namespace: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: {
      name: generatedNames(ref).exportName,
      namespace,
      labels: generatedLabels(ref),
      annotations: { [BINDING_ANNOTATION]: ref.name },
    },
  };
}

/** Role and role binding of the export's own account: the content of that one export, and nothing else. */
export function contentRole(
  ref: BindingRef,
  namespace: string,
): readonly [role: KubeObject, binding: KubeObject] {
  const { exportName } = generatedNames(ref);
  return roleAndBinding(ref, {
    name: exportName,
    rule: { resources: ['apiexports/content'], verbs: ['*'] },
    subject: { kind: 'ServiceAccount', name: exportName, namespace },
  });
}

/** Lets any user of kcp bind this one export; only the binding's own workspace is ever read through it. */
export function bindRole(ref: BindingRef): readonly [role: KubeObject, binding: KubeObject] {
  return roleAndBinding(ref, {
    name: generatedNames(ref).bindRole,
    rule: { resources: ['apiexports'], verbs: ['bind'] },
    subject: { kind: 'Group', name: 'system:authenticated', apiGroup: 'rbac.authorization.k8s.io' },
  });
}

function roleAndBinding(
  ref: BindingRef,
  grant: {
    readonly name: string;
    readonly rule: { readonly resources: readonly string[]; readonly verbs: readonly string[] };
    readonly subject: JsonObject;
  },
): readonly [KubeObject, KubeObject] {
  const metadata = () => ({
    name: grant.name,
    labels: generatedLabels(ref),
    annotations: { [BINDING_ANNOTATION]: ref.name },
  });
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const rule = {
    apiGroups: ['apis.kcp.io'],
    resources: [...grant.rule.resources],
    resourceNames: [generatedNames(ref).exportName],
    verbs: [...grant.rule.verbs],
  };
  return [
    { apiVersion, kind: 'ClusterRole', metadata: metadata(), rules: [rule] },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata: metadata(),
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: grant.name },
      subjects: [grant.subject],
    },
  ];
}

/** The APIBinding in the consumer workspace, with every claim of the export accepted on it. */
export function generatedApiBinding(
  ref: BindingRef,
  home: ExportHome,
  claims: readonly ExportClaim[],
): KubeObject {
  const names = generatedNames(ref);
  return {
    apiVersion: `${GVR.apiBindings.group}/${GVR.apiBindings.version}`,
    kind: 'APIBinding',
    metadata: {
      name: names.apiBinding,
      labels: { [COMPONENT_LABEL]: 'generated-binding', [BINDING_UID_LABEL]: ref.uid },
      annotations: { [BINDING_ANNOTATION]: ref.name },
    },
    spec: {
      reference: { export: { path: home.path, name: names.exportName } },
      permissionClaims: acceptedClaims(claims),
    },
  };
}

/** Selectors are required and immutable; this kcp knows `matchAll` only. */
export function acceptedClaims(claims: readonly ExportClaim[]): JsonObject[] {
  return claims.map(({ group, resource, verbs }) => ({
    group,
    resource,
    verbs: [...verbs],
    selector: { matchAll: true },
    state: 'Accepted',
  }));
}
