import { parentPort, workerData } from 'node:worker_threads';
import { startWorkerThread } from './start-worker-thread.js';

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
await startWorkerThread(parentPort, workerData);
