/** Why the controller cannot start or go on. The message says what to do. */
export type ControllerErrorCode =
  | 'CLIENT_EXPORT_MISSING'
  | 'CLIENT_WORKSPACE_FORBIDDEN'
  | 'KUBECONFIG_MISSING'
  | 'KUBECONFIG_WITHOUT_WORKSPACE'
  | 'FILE_UNREADABLE';

export class ControllerError extends Error {
  override readonly name = 'ControllerError';
  readonly code: ControllerErrorCode;

  constructor(message: string, code: ControllerErrorCode, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
