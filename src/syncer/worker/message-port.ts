import type { MessagePort } from 'node:worker_threads';
import type { ToWorker } from '../protocol/report.js';
import type { WorkerPort } from './worker-port.js';

/** The line of a worker thread. The main thread is trusted: what it says is not checked again. */
export function messagePortAsWorkerPort(port: MessagePort): WorkerPort {
  let open = true;
  return {
    post: (message) => {
      if (open) port.postMessage(message);
    },
    onMessage: (listener) => port.on('message', (message: ToWorker) => listener(message)),
    close: () => {
      open = false;
      port.close();
    },
  };
}
