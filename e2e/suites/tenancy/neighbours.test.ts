import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { GVR } from '../../../src/api/gvr.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { Verdict } from '../../harness/fault-proxy.js';
import { waitFor } from '../../harness/wait-for.js';
import { conditionWith, readCondition } from '../../harness/conditions.js';
import {
  copiesOf,
  copyOf,
  gadget,
  gatherCrowd,
  isOf,
  isServed,
  ownerUid,
  type Crowd,
  type Tenant,
} from './crowd.js';
import { arrival, waitsDuring, type Waits } from './probe.js';
import { POISONED_SCHEMAS, poisoned } from './poison.js';

/** `E2E_FLOOD=5000` for as many as the product is made for; fewer keep threads and servers as busy, for less long. */
const FLOOD = Number(process.env['E2E_FLOOD'] ?? 300);
const WITHIN_MS = 10_000;

/** Two threads for all: whoever does no harm shares one with those who do, as in a full installation. */
describe('while another tenant', () => {
  const figures: string[] = [];
  let crowd: Crowd;
  let alice: Tenant;
  let bob: Tenant;

  beforeAll(async () => {
    crowd = await gatherCrowd('neighbours', [
      '--max-workers=2',
      '--request-timeout=5s',
      '--watch-silence=20s',
    ]);
    [alice, bob] = await Promise.all([crowd.join('alice'), crowd.join('bob')]);
    await Promise.all([isServed(crowd, alice), isServed(crowd, bob)]);
    await arrival(crowd, alice);
  });

  afterAll(async () => {
    await crowd.close();
    console.info(figures.join('\n'));
  });

  function expectQuick(what: string, waits: Waits): void {
    figures.push(
      `${what}: ${waits.all.length} objects, nine of ten in ${waits.p90} ms, all in ${waits.longest} ms`,
    );
    expect(waits.longest).toBeLessThan(WITHIN_MS);
  }

  it('has objects of the same names, each tenant has his own, whatever the other does with his', async () => {
    const { gadgets } = crowd;
    const target = { namespace: 'default', name: 'main' };
    const specs = new Map<Tenant, string>([
      [alice, 'of alice'],
      [bob, 'of bob'],
    ]);
    for (const [tenant, title] of specs)
      await tenant.workspace.create(gadgets, gadget(crowd, 'main', { spec: { title } }));
    const synced = async (tenant: Tenant, title: string) => {
      const object = await tenant.workspace.get(gadgets, target);
      const copy = await copyOf(crowd, tenant, 'main');
      return ownerUid(copy ?? object) === object.metadata.uid && titleOf(copy) === title && { object, copy };
    };
    const arrived = (tenant: Tenant, title: string) =>
      waitFor(() => synced(tenant, title), { what: `the copy ${title}`, timeout: WITHIN_MS });
    for (const [tenant, title] of specs) {
      await arrived(tenant, title);
      const where = { namespace: `${tenant.account.namespace}-default`, name: 'main' };
      await crowd.provider.patch(
        gadgets,
        where,
        'merge',
        { status: { seen: title } },
        { subresource: 'status' },
      );
    }
    for (const [tenant, title] of specs)
      await waitFor(async () => statusOf(await tenant.workspace.get(gadgets, target))['seen'] === title, {
        what: `the status ${title}`,
        timeout: WITHIN_MS,
      });
    const before = await arrived(bob, 'of bob');

    await alice.workspace.patch(gadgets, target, 'merge', { spec: { title: 'of alice, again' } });
    await arrived(alice, 'of alice, again');
    await alice.workspace.delete(gadgets, target);
    await waitFor(async () => (await copyOf(crowd, alice, 'main')) === undefined, {
      what: 'the copy of alice to go',
      timeout: WITHIN_MS,
    });
    await arrival(crowd, bob);
    expect(await arrived(bob, 'of bob')).toEqual(before);
  });

  it(`makes ${FLOOD} objects at once`, async () => {
    const names = Array.from({ length: FLOOD }, (_, at) => `flood-${at}`);
    const queue = names.values();
    const create = async () => {
      for (const name of queue) await bob.workspace.create(crowd.gadgets, gadget(crowd, name));
    };
    const began = Date.now();
    const flood = Promise.all(Array.from({ length: 32 }, create)).then(async () => {
      figures.push(`all were made after ${Date.now() - began} ms`);
      await waitFor(async () => (await copiesOf(crowd, bob)).length >= FLOOD, {
        what: 'all copies',
        timeout: 400_000,
        interval: 1000,
      });
      figures.push(`all had arrived after ${Date.now() - began} ms`);
    });
    expectQuick(`beside ${FLOOD} objects at once`, await waitsDuring(crowd, alice, flood));
  });

  it('deletes them all at once', async () => {
    const { items } = await bob.workspace.list(crowd.gadgets);
    const queue = items.filter(({ metadata }) => metadata.name.startsWith('flood-')).values();
    const remove = async () => {
      for (const { metadata } of queue)
        await bob.workspace.delete(crowd.gadgets, { namespace: 'default', name: metadata.name });
    };
    const ebb = Promise.all(Array.from({ length: 32 }, remove)).then(() =>
      waitFor(
        async () => !(await copiesOf(crowd, bob)).some(({ metadata }) => metadata.name.startsWith('flood-')),
        { what: 'all copies to go', timeout: 400_000, interval: 1000 },
      ),
    );
    expectQuick('beside as many deletions', await waitsDuring(crowd, alice, ebb));
  });

  it('rewrites one object all the time', async () => {
    const target = { namespace: 'default', name: 'restless' };
    await bob.workspace.create(crowd.gadgets, gadget(crowd, 'restless', { spec: { size: 0 } }));
    let size = 0;
    const end = Date.now() + 12_000;
    const rewrite = async () => {
      while (Date.now() < end) {
        size += 1;
        await bob.workspace.patch(crowd.gadgets, target, 'merge', { spec: { size } });
      }
    };
    const busy = Promise.all(Array.from({ length: 4 }, rewrite));
    expectQuick('beside an object that is never at rest', await waitsDuring(crowd, alice, busy));
    expect(size).toBeGreaterThan(20);
    await bob.workspace.patch(crowd.gadgets, target, 'merge', { spec: { size: -1 } });
    await waitFor(
      async () => (specOf(await copyOf(crowd, bob, 'restless'))['size'] as number | undefined) === -1,
      { what: 'the last of all changes', timeout: WITHIN_MS },
    );
  });

  it('has objects as large, deep and strange as kcp takes them', async () => {
    const deep = (levels: number) => JSON.parse(`${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`) as object;
    const large = { words: 'x'.repeat(1_000_000) };
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":null,"":"","a/b~c":[[[]]]}') as object;
    const specs = [
      ...Array.from({ length: 12 }, () => large),
      ...[deep(90), deep(600), deep(1500), odd, { many: Array.from({ length: 100_000 }, () => 0) }],
    ];
    const made = specs.map(async (free, at) => {
      const strange = gadget(crowd, `strange-${at}`, { spec: { free: free as never } });
      await bob.workspace.create(crowd.gadgets, strange).catch((error: unknown) => {
        if (!isStatus(error, 400) && !isStatus(error, 413) && !isStatus(error, 422)) throw error;
      });
    });
    const trouble = Promise.all(made).then(() =>
      waitFor(
        async () => (await copiesOf(crowd, bob)).some(({ metadata }) => metadata.name === 'strange-15'),
        {
          what: 'the odd one',
          timeout: 60_000,
        },
      ),
    );
    expectQuick('beside strange objects', await waitsDuring(crowd, alice, trouble));
    await Promise.all(
      specs.map((_, at) =>
        bob.workspace
          .delete(crowd.gadgets, { namespace: 'default', name: `strange-${at}` })
          .catch((error: unknown) => {
            if (!isStatus(error, 404)) throw error;
          }),
      ),
    );
  });

  it('has a provider that takes connections and never answers', async () => {
    const mute = await crowd.join('carol', 'proxy');
    await isServed(crowd, mute);
    crowd.proxy.setRule((request) => (isOf(mute)(request) ? 'hold' : 'pass'));
    crowd.proxy.freeze(isOf(mute));
    const trouble = (async () => {
      await mute.workspace.create(crowd.gadgets, gadget(crowd, 'main'));
      await waitFor(
        async () => {
          const told = await Promise.all(
            ['Connected', 'Syncing'].map((type) =>
              readCondition(mute.consumer.kubeconfig, 'kubebindbinding', 'gadgets', type),
            ),
          );
          return told.some((each) => each?.status === 'False');
        },
        { what: 'the trouble to be told', timeout: 60_000, interval: 500 },
      );
    })();
    expectQuick('beside a mute provider', await waitsDuring(crowd, alice, trouble));
    crowd.proxy.setRule(() => 'pass');
    crowd.proxy.cutAll();
    await waitFor(async () => (await copyOf(crowd, mute, 'main')) !== undefined, {
      what: 'the copy, by itself, when it answers again',
      timeout: 60_000,
    });
  });

  it('has a provider whose schema is poison', async () => {
    const kinds = Object.entries(POISONED_SCHEMAS);
    const kindOf = new Map<string, number>();
    const made = new Map<string, string>();
    crowd.proxy.setRule(async ({ method, path }): Promise<Verdict> => {
      const [, namespace = '', name] = /\/namespaces\/([^/]+)\/boundschemas\/?([^/?]*)/.exec(path) ?? [];
      if (method !== 'GET' || name === undefined || name === '') return 'pass';
      if (!kindOf.has(namespace)) kindOf.set(namespace, kindOf.size);
      const [, poison] = kinds[kindOf.get(namespace) ?? 0] ?? [];
      if (poison === undefined) return 'pass';
      const real = await crowd.provider.get(GVR.boundSchemas, { namespace, name });
      const body = made.get(namespace) ?? poisoned(real, poison);
      made.set(namespace, body);
      return { status: 200, body };
    });
    const trouble = (async () => {
      const victims = await Promise.all(kinds.map(() => crowd.join('carol', 'proxy')));
      await Promise.all(
        victims.map(async ({ consumer }) => {
          await waitFor(
            async () => {
              const seen = await readCondition(
                consumer.kubeconfig,
                'kubebindbinding',
                'gadgets',
                'SchemaInSync',
              );
              return seen?.status === 'False' && seen.reason !== 'Pending' && seen;
            },
            { what: 'the poison to be told', timeout: 90_000, interval: 500 },
          ).then(({ reason, message }) => figures.push(`${reason}: ${message.slice(0, 200)}`));
        }),
      );
    })();
    expectQuick('beside poison', await waitsDuring(crowd, alice, trouble));
    expect(kindOf.size).toBe(kinds.length);
    await conditionWith(alice.consumer.kubeconfig, 'kubebindbinding', 'gadgets', {
      type: 'Ready',
      reason: 'Ready',
    });
  });
});

function specOf(copy: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  return (copy?.['spec'] ?? {}) as Record<string, unknown>;
}

function titleOf(copy: Readonly<Record<string, unknown>> | undefined): unknown {
  return specOf(copy)['title'];
}

function statusOf(object: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return (object['status'] ?? {}) as Record<string, unknown>;
}
