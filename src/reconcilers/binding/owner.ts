import { BINDING_ANNOTATION, BINDING_UID_LABEL, CLUSTER_LABEL, COMPONENT_LABEL } from '../../api/markers.js';
import { generatedBindingName, generatedExportName, identitySecretName } from '../../api/names.js';
import { isLogicalCluster } from '../../kube/logical-cluster.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import { refersTo } from '../claims.js';
import type { ExportHome } from '../claims.js';

/** A KubeBindBinding, by what kcp set. */
export interface BindingRef {
  readonly cluster: LogicalCluster;
  readonly name: string;
  readonly uid: string;
}

/** Value of the component label on all that is made for a binding in the client workspace. */
export const GENERATED_COMPONENT = 'generated-export';
/** Selects the generated exports among all APIExports of the client workspace. */
export const GENERATED_SELECTOR = `${COMPONENT_LABEL}=${GENERATED_COMPONENT}`;

/** Names of all that is made for one binding. */
export interface GeneratedNames {
  /** Of the APIExport, its endpoint slice, ServiceAccount, ClusterRole and ClusterRoleBinding. */
  readonly exportName: string;
  readonly identitySecret: string;
  readonly apiBinding: string;
  /** Of ClusterRole and ClusterRoleBinding with which users bind the export themselves. */
  readonly bindRole: string;
}

export function generatedNames(ref: BindingRef): GeneratedNames {
  const exportName = generatedExportName(ref.cluster, ref.uid);
  return {
    exportName,
    identitySecret: identitySecretName(ref.cluster, ref.uid),
    apiBinding: generatedBindingName(ref.cluster, ref.uid),
    bindRole: `${exportName}-bind`,
  };
}

export function generatedLabels(ref: BindingRef): Record<string, string> {
  return {
    [COMPONENT_LABEL]: GENERATED_COMPONENT,
    [BINDING_UID_LABEL]: ref.uid,
    [CLUSTER_LABEL]: ref.cluster,
  };
}

/**
 * The binding that an object of the client workspace was made for; undefined when its name is not the one
 * that follows from its labels, so that a wrong label can never lead to somebody else's binding.
 */
export function ownerOf(object: KubeObject): BindingRef | undefined {
  const owner = ownerOfPart(object);
  return owner !== undefined && generatedNames(owner).exportName === object.metadata.name ? owner : undefined;
}

/**
 * Whether an object may have been made for a binding of that name, by what it says of itself: `ownerOf` computes names,
 * which takes too long for each export at each run of each binding.
 */
export function seemsMadeFor(
  { metadata }: KubeObject,
  binding: Pick<BindingRef, 'cluster' | 'name'>,
): boolean {
  return (
    metadata.labels?.[CLUSTER_LABEL] === binding.cluster &&
    metadata.annotations?.[BINDING_ANNOTATION] === binding.name
  );
}

/** The same for any part of a generated export. */
export function ownerOfPart(object: KubeObject): BindingRef | undefined {
  const { labels, annotations, name } = object.metadata;
  const cluster = labels?.[CLUSTER_LABEL];
  const uid = labels?.[BINDING_UID_LABEL];
  const binding = annotations?.[BINDING_ANNOTATION];
  if (labels?.[COMPONENT_LABEL] !== GENERATED_COMPONENT || !isLogicalCluster(cluster)) return undefined;
  if (uid === undefined || binding === undefined) return undefined;
  const owner = { cluster, name: binding, uid };
  return Object.values<string>({ ...generatedNames(owner) }).includes(name) ? owner : undefined;
}

/** The only APIBindings that are ever changed or deleted: our label, our name and our export. */
export function isOurApiBinding(apiBinding: KubeObject, ref: BindingRef, home: ExportHome): boolean {
  const names = generatedNames(ref);
  return (
    apiBinding.metadata.name === names.apiBinding &&
    apiBinding.metadata.labels?.[BINDING_UID_LABEL] === ref.uid &&
    refersTo(apiBinding, home, names.exportName)
  );
}
