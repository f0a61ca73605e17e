import type { Budgets } from '../../kube/transport/connect.js';
import { DEFAULT_MAX_JSON_BYTES } from '../../kube/json.js';

/** So many answers of one server may be on their way at the same time. */
const AT_A_TIME = 4;

/**
 * What one answer may take in a thread with a heap of so many bytes, and as much room for buffers: whatever a server
 * answers, those that are read at the same time fit in. While its bytes are put together, an answer is there twice.
 */
export function answerBudgets(heapLimitBytes: number): Budgets {
  return {
    maxHeapBytes: Math.round(heapLimitBytes / AT_A_TIME),
    maxBodyBytes: Math.min(DEFAULT_MAX_JSON_BYTES, Math.round(heapLimitBytes / (2 * AT_A_TIME))),
  };
}
