/**
 * - `STATE_INVALID`: a stored Secret is not what this program writes
 * - `STATE_TOO_NEW`: it was written by a newer version of this program
 * - `STATE_TOO_LARGE`: it would not fit into a Secret
 * - `INSTALLATION_KEY_LOST`: accounts are stored but the key that their identities were made with is gone
 * - `INSTALLATION_KEY_INVALID`: the key's Secret does not hold 32 bytes
 */
export type StateErrorCode =
  | 'STATE_INVALID'
  | 'STATE_TOO_NEW'
  | 'STATE_TOO_LARGE'
  | 'INSTALLATION_KEY_LOST'
  | 'INSTALLATION_KEY_INVALID';

/** What the client workspace remembers cannot be used; the message says what an admin can do about it. */
export class StateError extends Error {
  override readonly name = 'StateError';
  readonly code: StateErrorCode;

  constructor(code: StateErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
