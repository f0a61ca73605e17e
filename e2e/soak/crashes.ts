import { readFile } from 'node:fs/promises';

import type { Controller } from '../harness/client-installation.js';
import { ROOT } from '../harness/root.js';
import { pause } from './pause.js';
import type { Chance } from './random.js';

/** For a controller's NODE_OPTIONS: its threads end on SIGUSR2, one at a time. */
export const THREADS_END_ON_SIGNAL = `--import=file://${ROOT}/e2e/harness/preload/terminate-threads.mjs`;

/** How a controller ended that was told to, by SIGTERM. */
export interface Drain {
  readonly ms: number;
  readonly code: number | null;
}

const MEAN_PAUSE_MS = 600;
const MOST_ENDS = 0.25;

/** A controller that is killed again and again, and started again each time. */
export class Crashes {
  kills = 0;
  readonly drains: Drain[] = [];
  /** Ends that nobody asked for: what the process said of itself. */
  readonly unexpected: string[] = [];
  readonly #start: () => Promise<Controller>;
  readonly #chance: Chance;
  #controller: Controller;
  #began = Date.now();
  #ready = false;
  /** Share of the blows that end the whole process: so few that it lives three times as long as it takes to start. */
  #ends = MOST_ENDS;

  constructor(first: Controller, start: () => Promise<Controller>, chance: Chance) {
    this.#controller = first;
    this.#start = start;
    this.#chance = chance;
  }

  get controller(): Controller {
    return this.#controller;
  }

  /** Threads that were ended so far, by any of the controllers. */
  async terminations(): Promise<number> {
    const log = await readFile(this.#controller.logFile, 'utf8');
    return log.split('test: ended a thread\n').length - 1;
  }

  /** SIGKILL, SIGTERM and ends of threads at random moments, until the signal. A controller runs afterwards. */
  async rain(signal: AbortSignal): Promise<void> {
    const chance = this.#chance;
    while (!signal.aborted) {
      await pause(chance.whole(50, 2 * MEAN_PAUSE_MS), signal);
      const luck = chance();
      if (!this.#controller.child.running) await this.#diedByItself();
      else if (luck < 0.2 * this.#ends) await this.drain();
      else if (luck < this.#ends) await this.kill();
      else if (await this.#answers()) this.#controller.child.signal('SIGUSR2');
    }
    if (!this.#controller.child.running) await this.#diedByItself();
  }

  async kill(): Promise<void> {
    await this.#controller.kill();
    this.kills += 1;
    await this.#restart();
  }

  /** SIGTERM, and a new one. */
  async drain(): Promise<Drain> {
    const began = Date.now();
    this.#controller.child.signal('SIGTERM');
    const { code } = await this.#controller.child.ended;
    const drain = { ms: Date.now() - began, code };
    this.drains.push(drain);
    await this.#restart();
    return drain;
  }

  /** Ready; then it also listens to signals. */
  async #answers(): Promise<boolean> {
    const signal = AbortSignal.timeout(5000);
    const ready = await fetch(`${this.#controller.url}/readyz`, { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (ready && !this.#ready)
      this.#ends = Math.min(MOST_ENDS, MEAN_PAUSE_MS / (3 * (Date.now() - this.#began)));
    this.#ready ||= ready;
    return ready;
  }

  async #restart(): Promise<void> {
    this.#began = Date.now();
    this.#ready = false;
    this.#controller = await this.#start();
  }

  async #diedByItself(): Promise<void> {
    const { code, signal } = await this.#controller.child.ended;
    this.unexpected.push(`code ${String(code)}, signal ${String(signal)}`);
    await this.#restart();
  }
}
