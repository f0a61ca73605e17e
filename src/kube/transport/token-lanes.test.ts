import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KubeconfigError, TransportError } from '../errors.js';
import { createTokenLanes } from './token-lanes.js';

const never = new AbortController().signal;

describe('token lanes', () => {
  it('give a token to one holder at a time, first come first served', async () => {
    const lanes = createTokenLanes(['a', 'b']);
    const [first, second] = await Promise.all([lanes.take(never), lanes.take(never)]);
    expect([first.token, second.token]).toEqual(['a', 'b']);
    const order: string[] = [];
    const third = lanes.take(never).then(({ token }) => order.push(`third ${token}`));
    const fourth = lanes.take(never).then(({ token }) => order.push(`fourth ${token}`));
    second.release();
    await third;
    first.release();
    await fourth;
    expect(order).toEqual(['third b', 'fourth a']);
  });

  it('take a token back once only', async () => {
    const lanes = createTokenLanes(['a']);
    const lease = await lanes.take(never);
    lease.release();
    lease.release();
    await lanes.take(never);
    let given = false;
    void lanes.take(never).then(() => (given = true));
    await new Promise(setImmediate);
    expect(given).toBe(false);
  });

  it('let go of who does not wait any more, and lose no token by it', async () => {
    const lanes = createTokenLanes(['a']);
    const lease = await lanes.take(never);
    const closing = new AbortController();
    const gone = lanes.take(closing.signal);
    const next = lanes.take(never);
    closing.abort();
    await expect(gone).rejects.toBeInstanceOf(TransportError);
    lease.release();
    expect((await next).token).toBe('a');
  });

  it('are refused without tokens', () => {
    expect(() => createTokenLanes([])).toThrow(KubeconfigError);
  });

  it('never give a token twice at once, whatever the order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 4 }),
        fc.array(fc.nat(3), { maxLength: 40 }),
        async (size, holds) => {
          const lanes = createTokenLanes(Array.from({ length: size }, (_, i) => `t${i}`));
          const held = new Set<string | undefined>();
          await Promise.all(
            holds.map(async (turns) => {
              const lease = await lanes.take(never);
              expect(held.has(lease.token)).toBe(false);
              held.add(lease.token);
              for (let i = 0; i < turns; i++) await Promise.resolve();
              held.delete(lease.token);
              lease.release();
            }),
          );
          expect(held.size).toBe(0);
        },
      ),
    );
  });
});
