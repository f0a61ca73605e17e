/** One thing that must work before the process is of use. */
export interface ReadyCheck {
  readonly name: string;
  readonly ok: boolean;
  /** What is missing and what to do, or what an admin should know. Never a secret. */
  readonly message: string;
}

/** What `/readyz` says. */
export interface ReadyReport {
  readonly ready: boolean;
  readonly checks: readonly ReadyCheck[];
}
