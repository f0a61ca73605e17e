import type { ReadyReport } from '../../src/handshake/ready-report.js';

type Check = ReadyReport['checks'][number];

/** Collects what `/readyz` says, from parts that learn of it at different times. */
export class Readiness {
  readonly #checks = new Map<string, () => Check>();

  constructor(names: readonly string[]) {
    for (const name of names) this.set(name, false, 'not started yet');
  }

  set(name: string, ok: boolean, message: string): void {
    this.setLive(name, () => ({ name, ok, message }));
  }

  /** A check that is looked at when somebody asks. */
  setLive(name: string, check: () => Check): void {
    this.#checks.set(name, check);
  }

  report(): ReadyReport {
    const checks = [...this.#checks.values()].map((check) => check());
    return { ready: checks.every((check) => check.ok), checks };
  }
}
