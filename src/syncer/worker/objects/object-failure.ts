import { ApiError } from '../../../kube/errors.js';

/** Why one object is not in sync; reasons are those of its events. */
export type ObjectTrouble =
  | 'Conflict'
  | 'Contested'
  | 'Pruned'
  | 'Mutated'
  | 'ProviderRefused'
  | 'ProviderForbidden'
  | 'ProviderNamespaceMissing'
  | 'WorkspaceRefused'
  | 'WorkspaceForbidden';

export interface Trouble {
  readonly reason: ObjectTrouble;
  readonly message: string;
}

/** One object cannot be synced now. It is tried again after its own back-off; others are not concerned. */
export class ObjectFailure extends Error {
  override readonly name = 'ObjectFailure';
  readonly code = 'SYNC_OBJECT_FAILED';
  readonly trouble: Trouble;
  /** Milliseconds to wait at least: trying again costs much and does not help. */
  readonly retryAfterMs: number | undefined;

  constructor(trouble: Trouble, options: ErrorOptions & { readonly retryAfterMs?: number | undefined } = {}) {
    super(trouble.message, options);
    this.trouble = trouble;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** How long an object waits at least after an error, in milliseconds; undefined: no longer than its back-off. */
export function retryAfterOf(error: unknown): number | undefined {
  if (error instanceof ObjectFailure || error instanceof ApiError) return error.retryAfterMs;
  return undefined;
}
