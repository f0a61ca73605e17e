import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { STEPS } from '../../../src/reconcilers/steps.js';
import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  allCopies,
  applyDatabase,
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { startCrashRig, type CrashRig } from '../../harness/crash-rig.js';
import { CHANGES, LOGIN_LIFE, stepsOf, WORKER_STEPS } from '../../harness/crash-steps.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { finishLogin } from '../../harness/login.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

describe('the crash tests together', () => {
  it('kill the controller around every named step and every effect of a worker', () => {
    expect(stepsOf(LOGIN_LIFE, CHANGES)).toEqual([...Object.keys(STEPS), ...WORKER_STEPS].sort());
  });
});

/** One life of a binding, from the login to the end of the connection. */
describe('a controller that is killed around every step of a login', () => {
  const shared = readBench();
  let rig: CrashRig | undefined;
  let alice: Consumer;

  beforeAll(async () => {
    [rig, alice] = await Promise.all([
      startCrashRig(shared, `${shared.dir}/${uniqueName('crash')}`),
      createConsumer('alice'),
    ]);
    await bindClient(alice.kubeconfig, rig.installation);
  });

  afterAll(async () => {
    await rig?.stop();
  });

  function running(): CrashRig {
    if (rig === undefined) throw new Error('the rig did not start');
    return rig;
  }

  it('still makes a login, binds the API and serves objects', async () => {
    const { bench, killAround, killed, ready } = running();
    killAround(LOGIN_LIFE['binds by a login']);
    await apply(
      alice.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindConnection',
        metadata: { name: 'provider' },
        spec: { backend: { url: bench.backendUrl } },
      }),
    );
    const login = await waitFor(
      async () => {
        const text = await kubectl(alice.kubeconfig, ['get', 'kubebindconnection', 'provider', '-o', 'json']);
        const { status } = JSON.parse(text) as {
          status?: { authentication?: { url?: string; userCode?: string } };
        };
        return status?.authentication;
      },
      { what: 'the login URL', timeout: 180_000 },
    );
    await waitFor(
      async () => {
        await ready();
        await finishLogin(login.url ?? '', login.userCode);
        return true;
      },
      { what: 'the login', timeout: 180_000 },
    );
    await apply(
      alice.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindBinding',
        metadata: { name: 'databases' },
        spec: { connection: 'provider', template: 'databases' },
      }),
    );
    await kubectl(
      alice.kubeconfig,
      ['wait', '--for=condition=Ready', '--timeout=900s', 'kubebindbinding/databases'],
      { timeout: 910_000 },
    );
    await waitFor(() => applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' }).then(() => true), {
      what: 'the API to be served',
    });
    await killed();
    await syncedDatabase(alice, 'main', () => true, bench);
    expect(await allCopies(bench)).toHaveLength(1);
  }, 1_200_000);

  it('still unbinds, and leaves nothing behind', async () => {
    const { bench, installation, killAround, killed } = running();
    killAround(LOGIN_LIFE.unbinds);
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=900s'], {
      timeout: 910_000,
    });
    await kubectl(alice.kubeconfig, ['delete', 'kubebindconnection', 'provider', '--timeout=240s'], {
      timeout: 250_000,
    });
    await killed();
    expect(await allCopies(bench)).toEqual([]);
    expect(await madeForTenants(installation)).toEqual([]);
    const inWorkspace = await runKubectl(alice.kubeconfig, ['get', 'apibindings', '-o', 'name']);
    expect(inWorkspace.stdout).not.toContain('kbb-');
  }, 1_200_000);
});
