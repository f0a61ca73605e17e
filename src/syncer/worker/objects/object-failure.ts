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

  constructor(trouble: Trouble, options?: ErrorOptions) {
    super(trouble.message, options);
    this.trouble = trouble;
  }
}
