import type { ObjectName } from '../../kube/object.js';
import type { CopyMarks } from './desired-copy.js';
import type { MappingRule, NamespaceLookup } from './key-mapping.js';

/** What the binding says about its objects. */
export interface SyncPolicies {
  readonly conflict: 'Fail' | 'Adopt';
  readonly deletion: 'Delete' | 'Orphan';
  /** No object is written on either side. */
  readonly paused: boolean;
  /** The binding is being deleted: every object is treated as if it were, but stays in the workspace. */
  readonly draining: boolean;
}

/** Everything that decisions about the objects of one resource of one binding have in common. */
export interface SyncContext {
  readonly rule: MappingRule;
  readonly namespaces: NamespaceLookup;
  readonly marks: CopyMarks;
  readonly policies: SyncPolicies;
}

/** `namespace/name` or `name`, for messages. */
export function describeName(target: ObjectName): string {
  return target.namespace === undefined ? target.name : `${target.namespace}/${target.name}`;
}
