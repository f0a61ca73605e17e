import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import { conditionWith } from '../../harness/conditions.js';
import { kubectl } from '../../harness/kubectl.js';
import { cpuMs, peakMemoryMiB } from '../../harness/process-usage.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import {
  at,
  eventWith,
  find,
  growGadgets,
  manifest,
  marksOf,
  openScene,
  synced,
  writeStatus,
  type Scene,
} from './scene.js';

/** A number of objects that CI has time for; 10000 take minutes more. */
const OBJECTS = Number(process.env['E2E_OBJECTS'] ?? 300);
/** Requests at a time by which they are made. */
const CREATORS = 24;
const MINUTE = 60_000;
const KIB = 1024;

const record = (value: unknown): JsonObject => value as JsonObject;
const spec = (object: KubeObject | undefined): JsonObject => record(object?.['spec'] ?? {});

/** What of an object never goes up and fills the workspace's server only, about 400 KiB. */
function bookkeeping(): JsonObject {
  const domain = Array.from({ length: 3 }, () => 'd'.repeat(60)).join('.');
  const labels = Array.from({ length: 200 }, (_, index) => [
    `${domain}.fluxcd.io/${'k'.repeat(50)}${index}`,
    'v'.repeat(60),
  ]);
  return {
    labels: Object.fromEntries(labels) as JsonObject,
    annotations: { 'argocd.argoproj.io/note': 'x'.repeat(255 * KIB) },
  };
}

/** Objects as large, and as many, as servers take. */
describe('objects at the limits', () => {
  const bench = readBench();
  const { kubernetes } = bench;
  let scene: Scene;
  /** When the first object that is too large was made. */
  let began: number;
  /** Every such object, and its attempts' URIs. */
  const refused = { large: /\/gadgets\/large\?/, reported: /\/gadgets\/reported\/status/ };

  beforeAll(async () => {
    scene = await openScene('limits');
  });

  afterAll(async () => {
    await scene.close();
  });

  const gadget = (name: string, rest: JsonObject = {}) =>
    scene.workspace.create(scene.api.gadgets, manifest(scene.api.gadgets, name, rest));
  const gadgetSynced = (name: string, wanted?: (copy: KubeObject, object: KubeObject) => boolean) =>
    synced(scene, scene.api.gadgets, name, wanted);
  const syncing = (reason: string) =>
    conditionWith(scene.consumer.kubeconfig, 'kubebindbinding', 'gadgets', { type: 'Syncing', reason });
  const figures = async () => {
    const { kubeconfig } = scene.consumer;
    const text = await kubectl(kubeconfig, ['get', 'kubebindbinding', 'gadgets', '-o', 'json']);
    const { status } = JSON.parse(text) as {
      status: { sync: { objects: number; pending: number; failing: number } };
    };
    return status.sync;
  };

  it('arrive, or fail alone with their size: too large for the provider, or with its status for the workspace', async () => {
    began = Date.now();
    const text = (bytes: number) => ({ free: { text: 'x'.repeat(bytes) } });
    const notes = (bytes: number) =>
      Object.fromEntries([0, 1, 2, 3].map((part) => [`example.org/part${part}`, 'x'.repeat(bytes / 4)]));
    const large = await gadget('large', { spec: text(1450 * KIB) });
    const noted = await gadget('noted', { metadata: { annotations: notes(255.8 * KIB) } });
    await gadget('wordy', { spec: text(200 * KIB), metadata: { annotations: notes(255 * KIB) } });
    const reported = await gadget('reported', { spec: text(100_000), metadata: bookkeeping() });

    expect(await eventWith(scene, large, /./)).toMatch(
      /^ProviderRefused: .*too large\. The object is about 145\d KiB large/,
    );
    expect(await eventWith(scene, noted, /./)).toMatch(/^ProviderRefused: .*annotations.* 25\d KiB large/);
    const wordy = await gadgetSynced('wordy');
    const words = 'x'.repeat(700_000);
    await writeStatus(scene, scene.api.gadgets, wordy.copy, { words });
    await gadgetSynced('wordy', (_, object) => record(object['status'] ?? {})['words'] === words);

    const { copy } = await gadgetSynced('reported');
    await writeStatus(scene, scene.api.gadgets, copy, { words: 'x'.repeat(1_150_000), round: 0 });
    expect(await eventWith(scene, reported, /./)).toMatch(
      /^WorkspaceRefused: .*too large\. The status is about 112\d KiB large/,
    );
    expect((await syncing('ObjectsFailing')).message).toMatch(/^3 objects cannot be synced, for example: /);
    // It goes on changing, and says no less.
    for (const round of [1, 2, 3]) {
      await staysTrue(() => true, { what: 'a while', ms: 1200 });
      await writeStatus(scene, scene.api.gadgets, copy, { words: 'x'.repeat(1_150_000), round });
    }
  });

  it(
    'cost no write at all when the controller is started anew, however many, with defaults at any depth',
    async () => {
      const { gadgets } = scene.api;
      // Defaults that the workspace does not know beside those that both sides fill in.
      await growGadgets(scene, 'add');
      try {
        const names = Array.from({ length: OBJECTS }, (_, index) => `many-${index}`);
        const next = names.values();
        const create = async () => {
          for (const name of next)
            await gadget(name, { spec: { parts: [{ name: 'a' }, { name: 'b' }], steps: [{ run: 'x' }] } });
        };
        await Promise.all(Array.from({ length: CREATORS }, create));
        await waitFor(
          async () => {
            const { objects, pending } = await figures();
            return objects >= OBJECTS && pending === 0;
          },
          { what: `${OBJECTS} objects to be in sync`, timeout: 5 * MINUTE + 200 * OBJECTS, interval: 1000 },
        );
        const versions = async () => {
          const [ours, theirs] = await Promise.all([
            scene.workspace.list(gadgets),
            scene.provider.list(gadgets),
          ]);
          const all = [...ours.items, ...theirs.items].filter(({ metadata }) =>
            names.includes(metadata.name),
          );
          return {
            all,
            text: all.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).sort(),
          };
        };
        const before = await versions();
        expect(before.all).toHaveLength(2 * OBJECTS);
        const copy = before.all.find((each) => marksOf(each)['kube-bind.io/consumer-uid'] !== undefined);
        expect(spec(copy)).toEqual({
          mode: 'auto',
          grade: 'plain',
          parts: ['a', 'b'].map((name) => ({ name, count: 1, grade: 'plain' })),
          steps: [{ run: 'x', retries: 3, grade: 'plain' }],
        });

        const start = await scene.stopController();
        await start();
        const { pid } = scene.controller().child;
        await gadget('after-restart');
        await gadgetSynced('after-restart');
        // All are looked at when it works no more.
        let used = await cpuMs(pid);
        await waitFor(
          async () => {
            const [last, now] = [used, await cpuMs(pid)];
            used = now;
            return now - last < 250;
          },
          { what: 'the controller to be at rest', timeout: 5 * MINUTE, interval: 5000 },
        );
        expect((await versions()).text).toEqual(before.text);
        await waitFor(async () => (await figures()).pending === 0, { what: 'nothing to be pending' });
        // What the process takes by itself, and no more than 50 KiB for each object, both sides together.
        expect(await peakMemoryMiB(pid)).toBeLessThan(400 + OBJECTS / 20);
      } finally {
        await growGadgets(scene, 'remove');
      }
    },
    10 * MINUTE + 400 * OBJECTS,
  );

  it('that are too large are tried once a minute, and arrive when they are smaller', async () => {
    const minutes = Math.ceil((Date.now() - began) / MINUTE);
    const writes = [
      ...(await writesSince(bench.consumers.auditLog, began)),
      ...(await writesSince(kubernetes.auditLog, began)),
    ].filter(({ uri }) => uri.includes(scene.api.group) && !uri.includes('dryRun'));
    for (const pattern of Object.values(refused)) {
      // One more for the controller that was started anew.
      const tries = writes.filter(({ uri, status }) => pattern.test(uri) && status >= 400).length;
      expect({ pattern, tries: tries > 0 && tries <= minutes + 1 }).toEqual({ pattern, tries: true });
    }
    const { copy } = await gadgetSynced('reported');
    await writeStatus(scene, scene.api.gadgets, copy, { words: 'few' });
    await gadgetSynced('reported', (_, object) => record(object['status'] ?? {})['words'] === 'few');
    for (const name of ['large', 'noted']) {
      await scene.workspace.delete(scene.api.gadgets, at(name));
      await waitFor(async () => (await find(scene.workspace, scene.api.gadgets, name)) === undefined, {
        what: `${name} to go`,
      });
    }
    await syncing('Syncing');
  });
});
