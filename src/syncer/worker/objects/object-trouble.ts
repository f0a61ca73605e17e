import { isStatus } from '../../../kube/errors.js';
import type { ObjectName } from '../../../kube/object.js';
import { ObjectFailure } from './object-failure.js';
import type { ObjectTrouble } from './object-failure.js';
import { failureText } from './write-failure.js';
import type { FailureKind } from './write-failure.js';

/**
 * An error of a request about a copy, as one object's own trouble; the error itself where it may concern all
 * objects. Pure.
 */
export function providerFailure(kind: FailureKind, error: unknown, target: ObjectName): unknown {
  switch (kind) {
    case 'refused':
    case 'internal':
    case 'unexplained':
      return failure('ProviderRefused', `The provider refuses the object: ${failureText(error)}`, error);
    case 'forbidden':
      return failure('ProviderForbidden', `The provider forbids it: ${failureText(error)}`, error);
    case 'namespaceGone':
      return failure(
        'ProviderNamespaceMissing',
        `The provider's namespace ${target.namespace ?? ''} is missing or being deleted; the object is synced when it is back.`,
        error,
      );
    case 'stale':
    case 'gone':
    case 'unauthorized':
    case 'notServed':
    case 'unreachable':
      return error;
  }
}

/** The same for a request about a consumer's object. Pure. */
export function consumerFailure(kind: FailureKind, error: unknown): unknown {
  switch (kind) {
    case 'refused':
    case 'internal':
    case 'unexplained':
      return failure('WorkspaceRefused', `The workspace refuses the change: ${failureText(error)}`, error);
    case 'forbidden':
    case 'namespaceGone':
      return failure('WorkspaceForbidden', `The workspace forbids the change: ${failureText(error)}`, error);
    case 'stale':
    case 'gone':
    case 'unauthorized':
    case 'notServed':
    case 'unreachable':
      return error;
  }
}

/** The same for the request for a namespace. Pure. */
export function namespaceFailure(error: unknown, consumerNamespace: string): unknown {
  if (!isStatus(error, 403)) return error;
  return failure(
    'ProviderForbidden',
    `The provider gives this account no namespace for ${consumerNamespace}: ${failureText(error)}`,
    error,
  );
}

function failure(reason: ObjectTrouble, message: string, cause: unknown): ObjectFailure {
  return new ObjectFailure({ reason, message }, { cause });
}
