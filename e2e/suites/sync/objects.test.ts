import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { SYNCER_FINALIZER } from '../../../src/api/markers.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import { jsonEqual } from '../../../src/kube/json.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { readBench } from '../../harness/bench.js';
import { kubectl } from '../../harness/kubectl.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { startAdmissionWebhook } from './admission-webhook.js';
import {
  at,
  copyOf,
  edit,
  find,
  growGadgets,
  manifest,
  marksOf,
  openScene,
  synced,
  writeStatus,
  type Scene,
} from './scene.js';

const record = (value: unknown): JsonObject => value as JsonObject;
const spec = (object: KubeObject | undefined): JsonObject => record(object?.['spec'] ?? {});
const status = (object: KubeObject): JsonObject | undefined => object['status'] as JsonObject | undefined;

/** What one object and its copy say, with real servers on both sides. */
describe('an object of a bound API', () => {
  const { kubernetes } = readBench();
  let scene: Scene;

  beforeAll(async () => {
    scene = await openScene('objects');
  });

  afterAll(async () => {
    await scene.close();
  });

  const gadget = (name: string, rest: JsonObject = {}) =>
    scene.workspace.create(scene.api.gadgets, manifest(scene.api.gadgets, name, rest));
  const editGadget = (name: string, change: (object: KubeObject) => KubeObject) =>
    edit(scene.workspace, scene.api.gadgets, at(name), change);
  const gadgetSynced = (name: string, wanted?: (copy: KubeObject, object: KubeObject) => boolean) =>
    synced(scene, scene.api.gadgets, name, wanted);

  it('keeps what the provider adds: defaults, inside of list items too, and what its webhook sets', async () => {
    const { gadgets, group } = scene.api;
    const webhook = await startAdmissionWebhook({
      kubeconfig: kubernetes.kubeconfig,
      name: scene.api.template,
      group,
      resource: gadgets.resource,
      mutate: (object) => {
        const { name } = record(object['metadata']);
        const missing = record(object['spec'] ?? {})['injected'] === undefined;
        return name === 'defaulted' && missing
          ? [{ op: 'add', path: '/spec/injected', value: 'by the webhook' }]
          : [];
      },
    });
    try {
      // The provider's API grows after the binding: the workspace does not know these fields.
      await growGadgets(scene, 'add');
      await gadget('defaulted', { spec: { parts: [{ name: 'a' }], steps: [{ run: 'x' }] } });
      const { copy, object } = await gadgetSynced(
        'defaulted',
        (each) => spec(each)['grade'] === 'plain' && spec(each)['injected'] !== undefined,
      );
      expect(spec(object)).toEqual({
        mode: 'auto',
        parts: [{ name: 'a', count: 1 }],
        steps: [{ run: 'x', retries: 3 }],
      });
      expect(spec(copy)).toEqual({
        mode: 'auto',
        grade: 'plain',
        injected: 'by the webhook',
        parts: [{ name: 'a', count: 1, grade: 'plain' }],
        steps: [{ run: 'x', retries: 3, grade: 'plain' }],
      });
      await staysTrue(
        async () => {
          const [ours, theirs] = await Promise.all([
            find(scene.workspace, gadgets, 'defaulted'),
            copyOf(scene, gadgets, object),
          ]);
          return (
            ours?.metadata.resourceVersion === object.metadata.resourceVersion &&
            theirs?.metadata.resourceVersion === copy.metadata.resourceVersion
          );
        },
        { what: 'that nobody writes', ms: 5000, interval: 1000 },
      );
      await editGadget('defaulted', (each) => ({
        ...each,
        spec: { ...spec(each), injected: 'by the user' },
      }));
      await gadgetSynced('defaulted', (each) => spec(each)['injected'] === 'by the user');
      await editGadget('defaulted', (each) => ({ ...each, spec: { title: 'all else taken away' } }));
      await gadgetSynced('defaulted', (each) =>
        jsonEqual(spec(each), {
          title: 'all else taken away',
          mode: 'auto',
          grade: 'plain',
          injected: 'by the webhook',
        }),
      );
    } finally {
      await webhook.close();
      await growGadgets(scene, 'remove');
    }
  });

  it('loses on the provider what the user takes away, also while the controller is down', async () => {
    const full = {
      title: 'full',
      size: 7,
      note: null,
      tags: { a: '1', b: '2' },
      parts: [{ name: 'a', color: 'red', options: { x: '1' } }, { name: 'b' }],
      flags: ['x', 'y'],
      steps: [{ run: 'one', args: ['1', '2'] }, { run: 'two' }],
      sealed: { left: 'l', right: 'r' },
      free: { deep: { list: [1, { two: 2 }], gone: true }, empty: {} },
    };
    const labels = { keep: 'yes', go: 'yes' };
    await gadget('shrinking', { spec: full, metadata: { labels, annotations: labels } });
    await gadgetSynced('shrinking', (copy, object) => jsonEqual(spec(copy), spec(object)));
    await gadget('shrinking-too', { spec: { tags: { ours: '1' }, parts: [{ name: 'a' }], flags: ['x'] } });
    const theirs = { injected: 'theirs', tags: { theirs: '1' }, parts: [{ name: 'b' }], flags: ['y'] };
    const { copy: shared } = await gadgetSynced('shrinking-too');
    await edit(scene.provider, scene.api.gadgets, shared.metadata, (each) => ({
      ...each,
      spec: {
        ...spec(each),
        ...theirs,
        tags: { ours: '1', theirs: '1' },
        parts: [{ name: 'a' }, { name: 'b' }],
        flags: ['x', 'y'],
      },
    }));
    const start = await scene.stopController();
    await editGadget('shrinking-too', (each) => ({ ...each, spec: { title: 'rest' } }));
    await editGadget('shrinking', (each) => ({
      ...each,
      metadata: { ...each.metadata, labels: { keep: 'yes' }, annotations: { keep: 'yes' } },
      spec: {
        size: 7,
        tags: { b: '2' },
        parts: [{ name: 'a', options: {} }],
        flags: ['y'],
        steps: [{ run: 'two' }],
        free: { deep: { list: [] }, empty: null },
      },
    }));
    await start();
    await gadgetSynced('shrinking-too', (each) =>
      jsonEqual(spec(each), { ...theirs, title: 'rest', mode: 'auto', parts: [{ name: 'b', count: 1 }] }),
    );
    const { copy } = await gadgetSynced('shrinking', (each) => each.metadata.labels?.['go'] === undefined);
    const { object } = await gadgetSynced('shrinking');
    expect(spec(copy)).toEqual(spec(object));
    expect(marksOf(copy)).toMatchObject({ keep: 'yes' });
    expect(marksOf(copy)).not.toHaveProperty('go');
    for (const empty of [{ tags: {}, parts: [], flags: [], steps: [], sealed: {}, free: {} }, {}]) {
      await editGadget('shrinking', (each) => ({ ...each, spec: { ...empty, title: 'rest' } }));
      await gadgetSynced('shrinking', (each) =>
        jsonEqual(spec(each), { ...empty, title: 'rest', mode: 'auto' }),
      );
    }
    await editGadget('shrinking', (each) => ({ ...each, spec: undefined }));
    await gadgetSynced('shrinking', (each) => !('title' in spec(each)));
  });

  it('is exact in both directions: numbers, null and absent, empty values, unicode, odd keys', async () => {
    const odd: JsonObject = {
      above: 9007199254740993n,
      least: -(2 ** 63),
      most: 9223372036854775807n,
      huge: 1e21,
      tiny: 5e-324,
      tenth: 0.1,
      one: 1.0,
      minus: -0.5,
      nothing: null,
      empty: '',
      list: [],
      map: {},
      nested: [[], {}, null, '', [9007199254740993n, 0.1]],
      unicode: 'ä€𝄞\u2028\u0001"\\',
      'ключ/~.': 'key',
      ...JSON.parse('{"__proto__":{"a":1},"constructor":"c","toString":null}'),
    };
    await gadget('exact', { spec: { size: 9223372036854775807n, ratio: 0.1, note: null, free: odd } });
    const { copy } = await gadgetSynced('exact');
    expect(spec(copy)).toEqual({
      mode: 'auto',
      size: 9223372036854775807n,
      ratio: 0.1,
      note: null,
      free: odd,
    });
    expect(Object.keys(record(spec(copy)['free'])).sort()).toEqual(Object.keys(odd).sort());
    const { name, namespace = '' } = copy.metadata;
    const raw = `/apis/${scene.api.group}/v1/namespaces/${namespace}/gadgets/${name}`;
    const text = await kubectl(kubernetes.kubeconfig, ['get', '--raw', raw]);
    expect(text).toContain('"least":-9223372036854775808,');
    await writeStatus(scene, scene.api.gadgets, copy, { odd });
    const { object } = await gadgetSynced('exact', (_, each) => status(each) !== undefined);
    expect(status(object)).toEqual({ odd });
    // An edit of something else rewrites neither.
    await editGadget('exact', (each) => ({ ...each, spec: { ...spec(each), title: 'edited' } }));
    const edited = await gadgetSynced('exact', (each) => spec(each)['title'] === 'edited');
    expect(record(spec(edited.copy)['free'])).toEqual(odd);
    expect(status(edited.copy)).toEqual({ odd });
  });

  it('may say floats and big numbers in any notation', async () => {
    const text = `{"apiVersion":"${scene.api.group}/v1","kind":"Gadget",
      "metadata":{"name":"notation","namespace":"default"},
      "spec":{"ratio":1.0,"free":{"a":1e21,"b":1.0,"c":100e-2,"d":9007199254740993,"e":1E+2}}}`;
    await kubectl(scene.consumer.kubeconfig, ['create', '-f', '-'], { input: text });
    const { copy } = await gadgetSynced('notation');
    expect(spec(copy)['free']).toEqual({ a: 1e21, b: 1, c: 1, d: 9007199254740993n, e: 100 });
    await staysTrue(
      async () =>
        (await gadgetSynced('notation')).copy.metadata.resourceVersion === copy.metadata.resourceVersion,
      { what: 'that nobody writes', ms: 2000, interval: 500 },
    );
  });

  it('needs neither spec nor status subresource', async () => {
    const { memos } = scene.api;
    const fields = {
      data: { 'a.txt': '1', 'b.txt': '' },
      lines: ['x'],
      amount: 9007199254740993n,
      free: { x: 1 },
    };
    const object = await scene.workspace.create(memos, manifest(memos, 'memo', fields));
    const { copy } = await synced(scene, memos, 'memo');
    expect(copy).toMatchObject(fields);
    await edit(scene.workspace, memos, at('memo'), (each) => ({
      ...each,
      data: { 'b.txt': '' },
      lines: undefined,
      status: { mine: true },
    }));
    const edited = await synced(scene, memos, 'memo', (each) => each['lines'] === undefined);
    expect(edited.copy['data']).toEqual({ 'b.txt': '' });
    // Without the subresource a status is the provider's all the same: none goes up, and none can come down.
    expect(edited.copy['status']).toBeUndefined();
    expect(status(edited.object)).toEqual({ mine: true });
    await scene.workspace.delete(memos, at('memo'));
    await waitFor(async () => (await copyOf(scene, memos, object)) === undefined, { what: 'the copy to go' });
    await waitFor(async () => (await find(scene.workspace, memos, 'memo')) === undefined, {
      what: 'the memo to go',
    });
  });

  it('is scaled with kubectl scale', async () => {
    await gadget('scaled', { spec: { replicas: 1 } });
    await gadgetSynced('scaled');
    const args = ['scale', `gadgets.${scene.api.group}/scaled`, '--replicas=3'];
    await kubectl(scene.consumer.kubeconfig, args);
    await gadgetSynced('scaled', (copy) => spec(copy)['replicas'] === 3);
  });

  it('gets one copy of its final name from generateName, without what only servers set', async () => {
    const { metadata } = await scene.workspace.create(
      { group: '', version: 'v1', resource: 'configmaps' },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner', namespace: 'default' } },
    );
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata.uid ?? '' };
    const made = await scene.workspace.create(scene.api.gadgets, {
      ...manifest(scene.api.gadgets, ''),
      metadata: {
        name: '',
        generateName: 'generated-',
        namespace: 'default',
        finalizers: ['example.org/consumers-own'],
        ownerReferences: [owner],
      },
    });
    const { copy, object } = await gadgetSynced(made.metadata.name);
    expect(copy.metadata).not.toHaveProperty('generateName');
    expect(copy.metadata).not.toHaveProperty('ownerReferences');
    expect(copy.metadata).not.toHaveProperty('finalizers');
    expect(copy.metadata.name).toBe(made.metadata.name);
    expect(copy.metadata.uid).not.toBe(object.metadata.uid);
    await editGadget(made.metadata.name, (each) => ({
      ...each,
      metadata: { ...each.metadata, finalizers: [SYNCER_FINALIZER], ownerReferences: [] },
    }));
  });

  it('may have a name of 253 letters', async () => {
    const name = 'n'.repeat(253);
    await gadget(name);
    expect((await gadgetSynced(name)).copy.metadata.name).toBe(name);
  });

  it('brings its labels and annotations, but none that tools on the other side would act on', async () => {
    const labels = {
      'app.kubernetes.io/name': 'mine',
      'app.kubernetes.io/instance': 'argo-app',
      'app.kubernetes.io/managed-by': 'Helm',
      'kustomize.toolkit.fluxcd.io/name': 'flux',
    };
    const annotations = {
      'example.org/note': 'mine',
      'argocd.argoproj.io/tracking-id': 'x',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
      'meta.helm.sh/release-name': 'x',
    };
    await gadget('tracked', { metadata: { labels, annotations } });
    const { copy } = await gadgetSynced('tracked');
    await edit(scene.provider, scene.api.gadgets, copy.metadata, (each) => ({
      ...each,
      metadata: { ...each.metadata, labels: { ...each.metadata.labels, theirs: 'yes' } },
    }));
    await editGadget('tracked', (each) => ({ ...each, spec: { title: 'edited' } }));
    const edited = await gadgetSynced('tracked', (each) => spec(each)['title'] === 'edited');
    expect(Object.keys(edited.copy.metadata.labels ?? {}).sort()).toEqual([
      'app.kubernetes.io/name',
      'kcp.kube-bind.io/binding-uid',
      'theirs',
    ]);
    const keys = Object.keys(marksOf(edited.copy)).filter((key) => !key.includes('kube-bind.io/'));
    expect(keys).toEqual(['example.org/note']);
  });

  it('shows an edit as observed when the provider has observed it, and not before', async () => {
    const { gadgets } = scene.api;
    await gadget('observed', { spec: { size: 1 } });
    const { copy } = await gadgetSynced('observed');
    // The copy's generation runs ahead of the object's.
    for (const mode of ['a', 'b', 'c'])
      await edit(scene.provider, gadgets, copy.metadata, (each) => ({
        ...each,
        spec: { ...spec(each), injected: mode },
      }));
    const observe = async () => {
      const now = await scene.provider.get(gadgets, copy.metadata);
      const { generation = 0 } = now.metadata;
      const conditions = [{ type: 'Ready', status: 'True', observedGeneration: generation }];
      await writeStatus(scene, gadgets, now, { observedGeneration: generation, conditions });
      return generation;
    };
    expect(await observe()).toBeGreaterThan(3);
    const generationOf = (object: KubeObject) => object.metadata.generation ?? 0;
    const observed = (object: KubeObject) => [
      status(object)?.['observedGeneration'],
      record((status(object)?.['conditions'] as JsonObject[] | undefined)?.[0] ?? {})['observedGeneration'],
    ];
    await gadgetSynced('observed', (_, object) =>
      jsonEqual(observed(object) as never, [generationOf(object), generationOf(object)]),
    );
    await editGadget('observed', (each) => ({ ...each, spec: { ...spec(each), size: 2 } }));
    const edited = await gadgetSynced(
      'observed',
      (each, object) => spec(each)['size'] === 2 && Number(observed(object)[0]) < generationOf(object),
    );
    await staysTrue(
      async () => {
        const now = await scene.workspace.get(gadgets, at('observed'));
        return Number(observed(now)[0]) < generationOf(now) && Number(observed(now)[1]) < generationOf(now);
      },
      { what: 'that the edit is not shown as observed', ms: 2000 },
    );
    await observe();
    await gadgetSynced('observed', (_, object) => observed(object)[0] === generationOf(edited.object));
  });

  it('shows the last of a hundred status changes within five seconds, and none where the copy has none', async () => {
    const { gadgets } = scene.api;
    await gadget('busy');
    const { copy } = await gadgetSynced('busy');
    const end = Date.now() + 10_000;
    let count = 0;
    for (; count < 100 || Date.now() < end; count++) {
      await scene.provider.patch(
        gadgets,
        copy.metadata,
        'merge',
        { status: { count } },
        { subresource: 'status' },
      );
      if (count >= 100) await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const last = Date.now();
    await gadgetSynced('busy', (_, object) => status(object)?.['count'] === count - 1);
    expect(Date.now() - last).toBeLessThan(5000);
    await writeStatus(scene, gadgets, copy, undefined);
    await gadgetSynced('busy', (_, object) => status(object) === undefined);
  });

  it('does not keep a status that somebody made up in the workspace, and sends none to the provider', async () => {
    const { gadgets } = scene.api;
    await gadget('forged');
    const { copy } = await gadgetSynced('forged');
    const truth = await writeStatus(scene, gadgets, copy, { phase: 'real' });
    await gadgetSynced('forged', (_, object) => status(object)?.['phase'] === 'real');
    const { kubeconfig } = scene.consumer;
    const name = `gadget.${scene.api.group}/forged`;
    await kubectl(kubeconfig, [
      'patch',
      name,
      '--type=merge',
      '--subresource=status',
      '-p',
      '{"status":{"phase":"made up","more":1}}',
    ]);
    await gadgetSynced('forged', (_, object) => jsonEqual(status(object), { phase: 'real' }));
    await editGadget('forged', (each) => ({ ...each, status: { phase: 'made up' } }));
    const { copy: after, object } = await gadgetSynced('forged');
    expect(status(object)).toEqual({ phase: 'real' });
    expect(after.metadata.resourceVersion).toBe(truth.metadata.resourceVersion);
    expect(object.metadata).not.toHaveProperty('ownerReferences');
    expect(object.metadata.finalizers).toEqual([SYNCER_FINALIZER]);
    expect(marksOf(object)).toEqual({ 'kcp.io/cluster': scene.consumer.workspace.cluster });
  });
});
