import { randomBytes } from 'node:crypto';
import { createSystemClock } from '../../src/kube/system-clock.js';
import type { Effects } from './command-context.js';

const REQUEST_TIMEOUT_MS = 30_000;

/** The real world. What is heavy is loaded when it is needed. */
export function createEffects(version: string): Effects {
  const clock = createSystemClock();
  const userAgent = `kubectl-kcp-bind/${version}`;
  return {
    clock,
    randomBytes,
    connect: async (credentials) => {
      const [{ connect }, { createOpenDialler }] = await Promise.all([
        import('../../src/kube/transport/connect.js'),
        import('../../src/kube/dialler/dialler.js'),
      ]);
      return connect(credentials, {
        dialler: createOpenDialler(),
        userAgent,
        requestTimeoutMs: REQUEST_TIMEOUT_MS,
        clock,
        random: Math.random,
      });
    },
    createHttp: async () => {
      const [{ createForeignHttp }, { createOpenDialler }] = await Promise.all([
        import('../../src/kube/foreign-http-undici.js'),
        import('../../src/kube/dialler/dialler.js'),
      ]);
      return createForeignHttp({ dialler: createOpenDialler(), userAgent, clock });
    },
    serveLoopback: async (port, handle) =>
      (await import('./local-login/loopback-server.js')).serveLoopback(port, handle),
    openBrowser: async (url) => {
      const { default: open } = await import('open');
      await open(url);
    },
  };
}
