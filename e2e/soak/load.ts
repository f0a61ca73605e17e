import type { KubeClient } from '../../src/kube/client.js';
import { isStatus } from '../../src/kube/errors.js';
import { waitFor } from '../harness/wait-for.js';
import { database, DATABASES, sizeOf } from './databases.js';
import type { Ledger } from './ledger.js';
import { pause } from './pause.js';
import type { Chance } from './random.js';

/** A user at work in a workspace: what to reach it with, and what he wants by now. */
export interface Work {
  readonly client: KubeClient;
  readonly ledger: Ledger;
  readonly chance: Chance;
}

const NAMES = 40;

/** Creates, changes and deletes objects, with names that come again, until the signal. Gives the number of acts. */
export async function work(user: Work, signal: AbortSignal): Promise<number> {
  const { ledger, chance } = user;
  let acts = 0;
  while (!signal.aborted) {
    const name = `db-${chance.whole(1, NAMES)}`;
    if (!ledger.wanted.has(name)) await create(user, name);
    else if (chance() < 0.3) await remove(user, name);
    else await resize(user, name);
    acts += 1;
    await pause(chance.whole(30, 250), signal);
  }
  return acts;
}

/** The API may not be served yet, or the former object of that name still be on its way out. */
export async function create({ client, ledger, chance }: Work, name: string): Promise<void> {
  const sizeGiB = chance.whole(1, 1000);
  const { metadata } = await waitFor(
    async () => {
      try {
        return await client.create(DATABASES, database(name, sizeGiB));
      } catch (error) {
        if (!isStatus(error, 409)) throw error;
        const there = await client.get(DATABASES, { namespace: 'default', name });
        const ours = there.metadata.deletionTimestamp === undefined && sizeOf(there) === sizeGiB;
        return ours && there;
      }
    },
    { what: `${name} to be created`, timeout: 600_000, interval: 200 },
  );
  ledger.created(name, metadata.uid ?? '', sizeGiB);
}

async function resize({ client, ledger, chance }: Work, name: string): Promise<void> {
  const sizeGiB = chance.whole(1, 1000);
  await waitFor(
    () => client.patch(DATABASES, { namespace: 'default', name }, 'merge', { spec: { sizeGiB } }),
    { what: `${name} to be changed`, timeout: 60_000 },
  );
  const wanted = ledger.wanted.get(name);
  if (wanted !== undefined) wanted.sizeGiB = sizeGiB;
}

async function remove({ client, ledger }: Work, name: string): Promise<void> {
  const uid = ledger.wanted.get(name)?.uid ?? '';
  ledger.release(name);
  await waitFor(
    async () => {
      try {
        await client.delete(DATABASES, { namespace: 'default', name }, { uid });
        return true;
      } catch (error) {
        // Gone, or made again: an answer to an earlier try was lost.
        return isStatus(error, 404) || isStatus(error, 409);
      }
    },
    { what: `${name} to be deleted`, timeout: 60_000 },
  );
}
