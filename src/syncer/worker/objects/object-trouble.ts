import { isStatus } from '../../../kube/errors.js';
import type { KubeObject, ObjectName } from '../../../kube/object.js';
import { conventionalNamespace } from '../../engine/key-mapping.js';
import type { MappingRule } from '../../engine/key-mapping.js';
import { ObjectFailure } from './object-failure.js';
import type { ObjectTrouble, Trouble } from './object-failure.js';
import { TOO_LARGE_MS, tooLarge } from './object-size.js';
import { failureText } from './write-failure.js';
import type { FailureKind } from './write-failure.js';

/**
 * An error of a request about a copy, as one object's own trouble; the error itself where it may concern all
 * objects. Pure.
 *
 * @param sent the object that was to be written, where one was
 */
export function providerFailure(
  kind: FailureKind,
  error: unknown,
  target: ObjectName,
  sent?: KubeObject,
): unknown {
  switch (kind) {
    case 'refused':
    case 'internal':
    case 'unexplained':
      return refusal('ProviderRefused', 'The provider refuses the object', { error, sent });
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
export function consumerFailure(kind: FailureKind, error: unknown, sent?: KubeObject): unknown {
  switch (kind) {
    case 'refused':
    case 'internal':
    case 'unexplained':
      return refusal('WorkspaceRefused', 'The workspace refuses the change', { error, sent });
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

/** Kubernetes takes no longer names of namespaces. */
const MAX_NAMESPACE_LENGTH = 63;

/** What to say of a namespace that the provider was asked for and does not give. Pure. */
export function noNamespaceTrouble(rule: MappingRule, consumerNamespace: string): Trouble {
  const expected = conventionalNamespace(rule, consumerNamespace);
  const room = MAX_NAMESPACE_LENGTH - (expected.length - consumerNamespace.length);
  const advice =
    expected.length > MAX_NAMESPACE_LENGTH
      ? `Its name there would be ${expected}, which is longer than ${String(MAX_NAMESPACE_LENGTH)} letters: use a namespace whose name has no more than ${String(room)}.`
      : 'Its backend may not be running; the object is synced as soon as there is one.';
  return {
    reason: 'ProviderNamespaceMissing',
    message: `The provider was asked for a namespace for ${consumerNamespace} and has given none. ${advice}`,
  };
}

/** Names the size, and is patient, where that is the trouble. */
function refusal(
  reason: ObjectTrouble,
  what: string,
  { error, sent }: { readonly error: unknown; readonly sent: KubeObject | undefined },
): ObjectFailure {
  const message = `${what}: ${failureText(error)}`;
  const large = sent && tooLarge(error, sent);
  if (large === undefined) return failure(reason, message, error);
  const trouble = { reason, message: `${message}. ${large.advice}` };
  return new ObjectFailure(trouble, { cause: error, retryAfterMs: TOO_LARGE_MS });
}

function failure(reason: ObjectTrouble, message: string, cause: unknown): ObjectFailure {
  return new ObjectFailure({ reason, message }, { cause });
}
