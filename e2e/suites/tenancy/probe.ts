import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../harness/wait-for.js';
import { copyOf, gadget, ownerUid, type Crowd, type Tenant } from './crowd.js';

/** What a tenant's objects needed to arrive while another tenant did something; milliseconds. */
export interface Waits {
  readonly all: readonly number[];
  readonly longest: number;
  /** Nine of ten were there by then. */
  readonly p90: number;
}

let probes = 0;

/** Makes one object, waits for its copy, and says how long that took, in milliseconds. */
export async function arrival(crowd: Crowd, tenant: Tenant): Promise<number> {
  probes += 1;
  const began = Date.now();
  const made = await tenant.workspace.create(crowd.gadgets, gadget(crowd, `probe-${probes}`));
  await waitFor(
    async () => {
      const copy = await copyOf(crowd, tenant, made.metadata.name);
      return copy !== undefined && ownerUid(copy) === made.metadata.uid;
    },
    { what: `the copy of ${made.metadata.name}`, timeout: 60_000, interval: 50 },
  );
  return Date.now() - began;
}

/** One object after the other, until `trouble` is over; at least three. */
export async function waitsDuring(crowd: Crowd, tenant: Tenant, trouble: Promise<unknown>): Promise<Waits> {
  let over = false;
  const ending = trouble.finally(() => {
    over = true;
  });
  ending.catch(() => undefined);
  const all: number[] = [];
  // Set by the promise meanwhile.
  while (!(over as boolean) || all.length < 3) {
    all.push(await arrival(crowd, tenant));
    await sleep(300);
  }
  await ending;
  const sorted = [...all].sort((a, b) => a - b);
  return {
    all,
    longest: sorted.at(-1) ?? Infinity,
    p90: sorted[Math.ceil(sorted.length * 0.9) - 1] ?? Infinity,
  };
}
