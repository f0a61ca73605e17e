import { it } from '@jest/globals';

interface Case {
  readonly body: () => Promise<void>;
  result: Promise<void> | undefined;
}

/**
 * Tests of one file that wait most of their time and do not disturb each other: they all run from `start`, and each
 * shows under its own name. (jest's own `it.concurrent` begins before `beforeAll` has ended.)
 */
export class ConcurrentCases {
  readonly #cases: Case[] = [];

  /** Declares a test, like jest's. */
  it(title: string, body: () => Promise<void>): void {
    const added: Case = { body, result: undefined };
    this.#cases.push(added);
    it(title, async () => {
      if (added.result === undefined) throw new Error('the cases were not started');
      await added.result;
    });
  }

  /** To be called at the end of `beforeAll`. */
  start(): void {
    for (const each of this.#cases) {
      each.result = each.body();
      // Its own test tells of it, maybe much later.
      each.result.catch(() => undefined);
    }
  }
}
