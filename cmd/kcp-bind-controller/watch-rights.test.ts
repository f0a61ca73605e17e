import { describe, expect, it } from '@jest/globals';

import type { KubeClient } from '../../src/kube/client.js';
import type { JsonValue } from '../../src/kube/json-value.js';
import { silentLogger } from '../../src/telemetry/logger.js';
import { Readiness } from './readiness.js';
import { RIGHTS_CHECK, watchRights } from './watch-rights.js';

const EVERYTHING = {
  status: { resourceRules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], incomplete: false },
};
const NOTHING = { status: { resourceRules: [], incomplete: false } };

/** Gives one answer after the other, and what `/readyz` says after each with the pause that follows. */
async function run(answers: readonly (JsonValue | Error)[]) {
  const stop = new AbortController();
  const readiness = new Readiness([RIGHTS_CHECK]);
  const said: { ok: boolean | undefined; message: string | undefined; pause: number }[] = [];
  const left = [...answers];
  const client: Pick<KubeClient, 'raw' | 'baseUrl'> = {
    baseUrl: 'https://kcp.example.com/clusters/root:kube-bind',
    raw: () => {
      const answer = left.shift() ?? null;
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  await watchRights(
    {
      client: client as KubeClient,
      namespace: 'kube-bind',
      readiness,
      log: silentLogger(),
      clock: {
        sleep: (pause) => {
          const [check] = readiness.report().checks;
          said.push({ ok: check?.ok, message: check?.message, pause });
          if (left.length === 0) stop.abort();
          return Promise.resolve();
        },
      },
    },
    stop.signal,
  );
  return said;
}

describe('watchRights', () => {
  it('names what is missing, and looks again soon until it is there', async () => {
    const [first, second] = await run([NOTHING, EVERYTHING]);
    expect(first).toMatchObject({ ok: false, pause: 5_000 });
    expect(first?.message).toContain('apiexports.apis.kcp.io');
    expect(first?.message).toContain('apply apiexport/controller.yaml again');
    expect(second).toEqual({ ok: true, message: 'all that is needed', pause: 300_000 });
  });

  it('takes no answer for no reason to be unready', async () => {
    const [first] = await run([new Error('kcp is away')]);
    expect(first).toMatchObject({ ok: true, pause: 5_000 });
  });
});
