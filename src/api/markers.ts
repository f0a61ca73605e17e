import { GROUP } from './group.js';

/** Finalizer on KubeBindConnections and KubeBindBindings, there from the first write until all is cleaned up. */
export const CLEANUP_FINALIZER = `${GROUP}/cleanup`;
/** Finalizer on a consumer's objects, kept until the provider's copy is seen gone. */
export const SYNCER_FINALIZER = `${GROUP}/syncer`;

/** Label that lets a Secret be used as a connection's kubeconfig. */
export const CREDENTIALS_LABEL = `${GROUP}/credentials`;
/** Label on everything that the controller makes in the client workspace; value: what it is for. */
export const COMPONENT_LABEL = `${GROUP}/component`;
/** Label and annotation keys that tie what we made to its origin. */
export const BINDING_UID_LABEL = `${GROUP}/binding-uid`;
export const CONNECTION_UID_LABEL = `${GROUP}/connection-uid`;
export const CLUSTER_LABEL = `${GROUP}/cluster`;
/** Annotation on generated objects and copies: name of the KubeBindBinding, for people. */
export const BINDING_ANNOTATION = `${GROUP}/binding`;
/** Annotation on a generated export and on a copy: hash of the last desired state. */
export const DESIRED_HASH_ANNOTATION = `${GROUP}/desired-hash`;
/** Annotation on a copy: generation of the consumer's object that it was made from. */
export const CONSUMER_GENERATION_ANNOTATION = `${GROUP}/consumer-generation`;

/**
 * Annotation on a copy: JSON list of paths to the empty lists that were sent. Server-side apply keeps no owner for
 * an empty set or map list, so without this note it could never be taken away again.
 */
export const EMPTY_LISTS_ANNOTATION = `${GROUP}/empty-lists`;

/** Annotation on a related copy: JSON of the label and annotation keys that came from the original. */
export const COPIED_KEYS_ANNOTATION = `${GROUP}/copied-keys`;
/** Annotation on a former related copy that was left behind: it never counts as an original itself. */
export const ORPHANED_ANNOTATION = `${GROUP}/orphaned`;

/** Set by the user on a binding: let go although the provider does not answer. */
export const FORCE_RELEASE_ANNOTATION = `${GROUP}/force-release`;
/** Set by the user on an object. */
export const PAUSED_ANNOTATION = `${GROUP}/paused`;
/** Set by the user on an object: `Orphan` keeps the copy. The copy carries it too. */
export const DELETION_POLICY_ANNOTATION = `${GROUP}/deletion-policy`;

/** Field manager of all our server-side applies on providers. */
export const FIELD_MANAGER = GROUP;

/** What the kube-bind ecosystem expects on copies; `provider…` on those in the workspace. */
export const KUBE_BIND = {
  clusterNamespace: 'kube-bind.io/cluster-namespace',
  consumerNamespace: 'kube-bind.io/consumer-namespace',
  consumerUid: 'kube-bind.io/consumer-uid',
  providerNamespace: 'kube-bind.io/provider-namespace',
  providerUid: 'kube-bind.io/provider-uid',
  owner: 'kube-bind.io/owner',
} as const;

/** Annotation with the logical cluster's name on every object read through a virtual workspace. */
export const KCP_CLUSTER_ANNOTATION = 'kcp.io/cluster';
/** Annotation with the workspace's path on a LogicalCluster. */
export const KCP_PATH_ANNOTATION = 'kcp.io/path';

/** Annotations on a generated export, so that what it was made for can be cleaned up without its binding. */
export const CONNECTION_ANNOTATION = `${GROUP}/connection`;
export const EXPORT_REQUEST_ANNOTATION = `${GROUP}/export-request`;
/**
 * When the export was last pointed at other schemas or claims: what it named before may still have to go, also after
 * a crash.
 */
export const UPDATED_ANNOTATION = `${GROUP}/updated-at`;
/** UID of the contract namespace that the copies are in: another one means another account. */
export const CONTRACT_NAMESPACE_UID_ANNOTATION = `${GROUP}/contract-namespace-uid`;
