import { parentPort, workerData } from 'node:worker_threads';
import { startWorkerThread } from './start-worker-thread.js';
import type { WorkerData } from '../protocol/worker-data.js';

if (parentPort === null) throw new Error('this file is the entry of a worker thread');
// What the pool passed; see WorkerData.
await startWorkerThread(parentPort, workerData as WorkerData);
