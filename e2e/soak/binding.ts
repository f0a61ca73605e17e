import { isStatus } from '../../src/kube/errors.js';
import { waitFor } from '../harness/wait-for.js';
import { create } from './load.js';
import { pause } from './pause.js';
import { OUR_GROUP, type Tenant } from './tenant.js';

const BINDINGS = { group: OUR_GROUP, version: 'v1alpha1', resource: 'kubebindbindings' } as const;
const NAME = 'databases';

export async function bind({ client }: Tenant): Promise<void> {
  await waitFor(
    () =>
      client.create(BINDINGS, {
        apiVersion: `${OUR_GROUP}/v1alpha1`,
        kind: 'KubeBindBinding',
        metadata: { name: NAME },
        spec: {
          connection: 'provider',
          resources: [{ group: 'example.org', resource: 'databases', versions: ['v1'] }],
        },
      }),
    { what: 'the binding to be created', timeout: 60_000 },
  );
}

/** Deletes the binding with all objects, and waits until it is gone. */
export async function unbind({ client, ledger }: Tenant): Promise<void> {
  ledger.releaseAll();
  const gone = async (act: () => Promise<unknown>): Promise<boolean> => {
    try {
      await act();
      return false;
    } catch (error) {
      if (isStatus(error, 404)) return true;
      throw error;
    }
  };
  await waitFor(() => client.delete(BINDINGS, { name: NAME }).then(() => true), {
    what: 'the binding to be deleted',
    timeout: 60_000,
  });
  await waitFor(() => gone(() => client.get(BINDINGS, { name: NAME })), {
    what: 'the binding to be gone',
    timeout: 300_000,
    interval: 300,
  });
}

/** Binds, makes objects and unbinds until the signal; the last time to the end. Gives the number of rounds. */
export async function comeAndGo(tenant: Tenant, signal: AbortSignal): Promise<number> {
  let rounds = 0;
  while (!signal.aborted) {
    await bind(tenant);
    for (let i = 0; i < 5; i++) await create(tenant, `guest-${i}`);
    await pause(tenant.chance.whole(0, 4000), signal);
    await unbind(tenant);
    rounds += 1;
  }
  return rounds;
}
