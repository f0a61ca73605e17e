/** A thread for tests that does what its first assignment's binding is named for. */
import { Buffer } from 'node:buffer';
import { clearInterval, setInterval } from 'node:timers';
import { parentPort, workerData } from 'node:worker_threads';

parentPort.postMessage({ type: 'ready' });
const pulse = setInterval(() => {
  const externalBytes = process.memoryUsage().external;
  parentPort.postMessage({ type: 'pulse', metrics: '[]', externalBytes });
}, 20);

parentPort.on('message', (message) => {
  if (message.type === 'stop') {
    clearInterval(pulse);
    parentPort.close();
  }
  if (message.type === 'release') parentPort.postMessage({ type: 'released', key: message.key });
  if (message.type !== 'assign') return;
  switch (message.assignment.bindingName) {
    case 'environment':
      report(message.assignment, {
        remaining: Object.keys(process.env),
        namespaces: [String(workerData.worker)],
      });
      return;
    case 'exit':
      process.exit(9);
      return;
    case 'throw':
      throw new Error('thrown by the test');
    case 'loop':
      for (;;);
    case 'heap': {
      const kept = [];
      for (;;) kept.push(new Array(1000).fill(kept.length));
    }
    case 'buffers': {
      globalThis.kept = Array.from({ length: 64 }, () => Buffer.alloc(1024 * 1024, 1));
      return;
    }
    default:
      report(message.assignment, {});
  }
});

function report(assignment, change) {
  parentPort.postMessage({
    type: 'report',
    report: {
      key: assignment.key,
      revision: assignment.revision,
      conditions: {},
      sync: { objects: 0, pending: 0, failing: 0 },
      drained: false,
      left: false,
      remaining: [],
      namespaces: [],
      ...change,
    },
  });
}
