import { untrustedText } from '../api/untrusted-text.js';

export type ProblemReason = 'Unsupported' | 'TooLarge';

const MAX_PATH = 512;
const MAX_MESSAGE = 1024;

/** Why a schema cannot be served in kcp. Thrown while a schema is read, and caught at the folder's entry points. */
export class SchemaProblem extends Error {
  override readonly name = 'SchemaProblem';
  readonly reason: ProblemReason;
  /** Where in the schema object, for instance `spec.versions[v1].schema.properties.spec`. */
  readonly path: string;

  constructor(reason: ProblemReason, path: string, message: string) {
    super(untrustedText(message, MAX_MESSAGE));
    this.reason = reason;
    this.path = untrustedText(path, MAX_PATH);
  }
}

export function unsupported(path: string, message: string): SchemaProblem {
  return new SchemaProblem('Unsupported', path, message);
}

export function tooLarge(path: string, message: string): SchemaProblem {
  return new SchemaProblem('TooLarge', path, message);
}
