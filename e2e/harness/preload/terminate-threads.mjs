/**
 * Loaded into a controller by tests only, before its own bundle: on SIGUSR2 it ends one of the threads that run, wherever
 * that is, as `terminate()` does. The controller and its worker are those of dist/, unchanged.
 */
import { writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import threads, { isMainThread } from 'node:worker_threads';

/** What it writes for each thread that it ended. */
const SAID = 'test: ended a thread\n';

if (isMainThread) {
  const running = [];
  threads.Worker = class extends threads.Worker {
    constructor(...args) {
      super(...args);
      running.push(this);
      this.once('exit', () => running.splice(running.indexOf(this), 1));
    }
  };
  syncBuiltinESMExports();
  let turn = 0;
  process.on('SIGUSR2', () => {
    const victim = running[turn++ % Math.max(running.length, 1)];
    if (victim === undefined) return;
    writeSync(2, SAID);
    void victim.terminate();
  });
}
