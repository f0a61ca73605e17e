import { describe, expect, it } from '@jest/globals';
import { ApiError, TransportError } from '../../src/kube/errors.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { patiently } from './patiently.js';

const slept: number[] = [];
const options = {
  clock: {
    now: () => 0,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
    after: () => () => undefined,
  },
  log: silentLogger(),
  signal: new AbortController().signal,
};

function failing(...errors: Error[]): () => Promise<string> {
  return async () => {
    const error = errors.shift();
    if (error) throw error;
    return 'done';
  };
}

describe('what needs the client workspace at the start', () => {
  it('is tried again while the server is away', async () => {
    slept.length = 0;
    const away = [
      new TransportError('reset', 'reset'),
      new ApiError({ message: 'starting', status: 503, reason: 'ServiceUnavailable' }),
    ];
    await expect(patiently(failing(...away), options)).resolves.toBe('done');
    expect(slept).toHaveLength(2);
  });

  it('fails at once where a person has to act', async () => {
    const refused = new ApiError({ message: 'no', status: 403, reason: 'Forbidden' });
    await expect(patiently(failing(refused), options)).rejects.toBe(refused);
  });
});
