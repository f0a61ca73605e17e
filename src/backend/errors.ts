import { untrustedText } from '../api/untrusted-text.js';

/**
 * - `BACKEND_INVALID_URL`: the URL cannot be that of a backend
 * - `BACKEND_NOT_A_BACKEND`: something else answers there
 * - `BACKEND_UNSUPPORTED`: a backend, but of a version or with logins that this program does not speak
 * - `BACKEND_FOREIGN_AUTHORIZE_URL`: it sends people to another host to log in
 * - `BACKEND_UNAUTHORIZED`: the login's token is not, or no longer, accepted
 * - `BACKEND_FORBIDDEN`: logged in, but not allowed to bind
 * - `BACKEND_NOT_FOUND`: the template, or what was asked for, is not there
 * - `BACKEND_REFUSED`: any other refusal or failure of the backend
 * - `BACKEND_INVALID_ANSWER`: success, with content that cannot be used
 */
export type BackendErrorCode =
  | 'BACKEND_INVALID_URL'
  | 'BACKEND_NOT_A_BACKEND'
  | 'BACKEND_UNSUPPORTED'
  | 'BACKEND_FOREIGN_AUTHORIZE_URL'
  | 'BACKEND_UNAUTHORIZED'
  | 'BACKEND_FORBIDDEN'
  | 'BACKEND_NOT_FOUND'
  | 'BACKEND_REFUSED'
  | 'BACKEND_INVALID_ANSWER';

const MAX_MESSAGE = 1500;

/** What went wrong with a backend's HTTP API. The message is for users: what was asked, what came, what to do. */
export class BackendError extends Error {
  override readonly name = 'BackendError';
  readonly code: BackendErrorCode;
  /** HTTP status of the answer; undefined where none was needed to see the fault. */
  readonly status: number | undefined;

  constructor(code: BackendErrorCode, message: string, options: { status?: number | undefined } = {}) {
    super(untrustedText(message, MAX_MESSAGE));
    this.code = code;
    this.status = options.status;
  }

  /** True where the same request may succeed later without anybody doing anything. */
  get temporary(): boolean {
    return this.status !== undefined && (this.status >= 500 || this.status === 429 || this.status === 408);
  }
}
