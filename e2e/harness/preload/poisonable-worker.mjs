/**
 * Loaded into a controller by tests only, before its own bundle: its threads start from poisoned-entry.mjs, which loads the
 * worker of dist/.
 */
import { syncBuiltinESMExports } from 'node:module';
import threads, { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const entry = new URL('./poisoned-entry.mjs', import.meta.url);
  threads.Worker = class extends threads.Worker {
    constructor(_url, options) {
      super(entry, options);
    }
  };
  syncBuiltinESMExports();
}
