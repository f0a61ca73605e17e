import type { ReadyReport } from '../../src/handshake/ready-report.js';

/** Collects what `/readyz` says, from parts that learn of it at different times. */
export class Readiness {
  readonly #checks = new Map<string, ReadyReport['checks'][number]>();

  constructor(names: readonly string[]) {
    for (const name of names) this.set(name, false, 'not started yet');
  }

  set(name: string, ok: boolean, message: string): void {
    this.#checks.set(name, { name, ok, message });
  }

  report(): ReadyReport {
    const checks = [...this.#checks.values()];
    return { ready: checks.every((check) => check.ok), checks };
  }
}
