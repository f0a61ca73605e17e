import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

import { GVR } from '../../../src/api/gvr.js';
import { CONSUMER_GENERATION_ANNOTATION } from '../../../src/api/markers.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import { jsonEqual } from '../../../src/kube/json.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import { CONTROLLER_USER } from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import {
  at,
  edit,
  eventWith,
  find,
  manifest,
  marksOf,
  openScene,
  synced,
  writeStatus,
  type Scene,
} from './scene.js';

const record = (value: unknown): JsonObject => value as JsonObject;
const spec = (object: KubeObject | undefined): JsonObject => record(object?.['spec'] ?? {});

/** Namespace of objects about which no test but two does anything. */
const QUIET = 'quiet';

/** What becomes of copies when the two sides do not agree, or one of them lets go. */
describe('a copy', () => {
  const bench = readBench();
  const { kubernetes } = bench;
  let scene: Scene;
  /** The provider's namespace of the workspace's `default`. */
  let mapped: string;
  let contract: string;

  beforeAll(async () => {
    scene = await openScene('policies');
    await gadget('first');
    const { copy } = await gadgetSynced('first');
    mapped = copy.metadata.namespace ?? '';
    contract = marksOf(copy)['kube-bind.io/cluster-namespace'] ?? '';
  });

  afterAll(async () => {
    await scene.close();
  });

  const gadget = (name: string, rest: JsonObject = {}) =>
    scene.workspace.create(scene.api.gadgets, manifest(scene.api.gadgets, name, rest));
  const editGadget = (name: string, change: (object: KubeObject) => KubeObject) =>
    edit(scene.workspace, scene.api.gadgets, at(name), change);
  const editCopy = (copy: KubeObject, change: (object: KubeObject) => KubeObject) =>
    edit(scene.provider, scene.api.gadgets, copy.metadata, change);
  const gadgetSynced = (name: string, wanted?: (copy: KubeObject, object: KubeObject) => boolean) =>
    synced(scene, scene.api.gadgets, name, wanted);
  const annotate = (name: string, key: string, value: string | undefined) =>
    editGadget(name, (each) => {
      const others = Object.entries(each.metadata.annotations ?? {}).filter(([other]) => other !== key);
      const annotations = Object.fromEntries(value === undefined ? others : [...others, [key, value]]);
      return { ...each, metadata: { ...each.metadata, annotations } };
    });
  const remove = (name: string) => scene.workspace.delete(scene.api.gadgets, at(name));
  const gone = (name: string) =>
    waitFor(async () => (await find(scene.workspace, scene.api.gadgets, name)) === undefined, {
      what: `${name} to go from the workspace`,
      timeout: 60_000,
    });
  const onProvider = async (name: string) =>
    (await scene.provider.list(scene.api.gadgets, { namespace: mapped })).items.find(
      (item) => item.metadata.name === name,
    );
  const patchBinding = (changes: JsonObject) =>
    kubectl(scene.consumer.kubeconfig, [
      'patch',
      'kubebindbinding',
      'gadgets',
      '--type=merge',
      '-p',
      JSON.stringify({ spec: changes }),
    ]);
  const figures = async () => {
    const text = await kubectl(scene.consumer.kubeconfig, [
      'get',
      'kubebindbinding',
      'gadgets',
      '-o',
      'json',
    ]);
    const { status } = JSON.parse(text) as { status: { sync: { objects: number; failing: number } } };
    return status.sync;
  };
  const syncing = (reason: string) =>
    conditionWith(scene.consumer.kubeconfig, 'kubebindbinding', 'gadgets', { type: 'Syncing', reason });

  /** Copies that a finalizer of somebody else holds, and since when nothing should be written about them. */
  let held: readonly KubeObject[] = [];
  let quietSince = 0;
  const release = (copy: KubeObject) =>
    editCopy(copy, (each) => ({ ...each, metadata: { ...each.metadata, finalizers: [] } }));
  const idleNames = async () =>
    (await scene.workspace.list(scene.api.gadgets, { namespace: QUIET })).items.map(
      ({ metadata }) => metadata.name,
    );
  /** What the controller and its workers have written in this scene, but for leases, heartbeats and tokens. */
  const ours = async (since: number) => {
    const [workspaceWrites, providerWrites] = await Promise.all([
      writesSince(bench.consumers.auditLog, since),
      writesSince(kubernetes.auditLog, since),
    ]);
    const clusters = [scene.installation, scene.consumer].map(({ workspace }) => workspace.cluster);
    return [
      ...workspaceWrites.filter(
        ({ user, workspace }) =>
          clusters.includes(workspace) && (user === CONTROLLER_USER || user.includes(':kube-bind:')),
      ),
      ...providerWrites.filter(({ user }) => user === `system:serviceaccount:${contract}:kube-binder`),
    ].filter(({ uri }) => !/\/leases\/|clusterbindings\/cluster\/status|\/token(\?|$)/.test(uri));
  };

  it('is made of each of fifty objects, and five are deleted and held by others on the provider', async () => {
    const { gadgets } = scene.api;
    await scene.workspace.create(GVR.namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: QUIET },
    });
    const names = Array.from({ length: 50 }, (_, index) => `idle-${index}`);
    const objects = await Promise.all(
      names.map((name) =>
        scene.workspace.create(
          gadgets,
          manifest(gadgets, name, { metadata: { namespace: QUIET }, spec: { title: name } }),
        ),
      ),
    );
    const copies = await waitFor(
      async () => {
        const { items } = await scene.provider.list(gadgets);
        const uids = new Set(items.map((item) => marksOf(item)['kube-bind.io/consumer-uid']));
        return objects.every(({ metadata }) => uids.has(metadata.uid)) && items;
      },
      { what: 'the copies of fifty objects', timeout: 60_000 },
    );
    held = copies.filter(({ metadata }) => /^idle-[0-4]$/.test(metadata.name));
    expect(held).toHaveLength(5);
    for (const copy of held) {
      await editCopy(copy, (each) => ({
        ...each,
        metadata: { ...each.metadata, finalizers: ['example.org/others'] },
      }));
      const { name } = copy.metadata;
      // Policies of the binding that other tests set are not theirs.
      await edit(scene.workspace, gadgets, { namespace: QUIET, name }, (each) => ({
        ...each,
        metadata: {
          ...each.metadata,
          annotations: { ...each.metadata.annotations, 'kcp.kube-bind.io/deletion-policy': 'Delete' },
        },
      }));
      await scene.workspace.delete(gadgets, { namespace: QUIET, name });
      await waitFor(
        async () => (await scene.provider.get(gadgets, copy.metadata)).metadata.deletionTimestamp,
        {
          what: 'the copy to be deleted',
        },
      );
    }
    await staysTrue(() => true, { what: 'a while for what is on its way', ms: 2000 });
    quietSince = Date.now();
  });

  it('is never made of an object that the provider has already, unless the binding says Adopt', async () => {
    const { gadgets } = scene.api;
    const theirs = await scene.provider.create(
      gadgets,
      manifest(gadgets, 'taken', {
        metadata: { namespace: mapped, labels: { theirs: 'yes' } },
        spec: { title: 'theirs', tags: { theirs: 'yes' } },
      }),
    );
    const ours = { title: 'ours', tags: { ours: 'yes' } };
    const object = await gadget('taken', { spec: ours });
    await eventWith(scene, object, /^Conflict: .*taken that was not made by this binding.*Adopt/);
    expect(await syncing('Conflict')).toMatchObject({ status: 'False' });
    expect(await figures()).toMatchObject({ failing: 1 });
    await remove('taken');
    await gone('taken');
    expect(await onProvider('taken')).toEqual(theirs);

    const again = await gadget('taken', { spec: ours });
    await eventWith(scene, again, /^Conflict: /);
    await patchBinding({ conflictPolicy: 'Adopt' });
    const { copy } = await gadgetSynced('taken');
    expect(copy.metadata.uid).toBe(theirs.metadata.uid);
    expect(copy.metadata.labels).toMatchObject({ theirs: 'yes' });
    expect(spec(copy)).toEqual({ mode: 'auto', title: 'ours', tags: { theirs: 'yes', ours: 'yes' } });
    await eventWith(scene, again, /^Adopted: .*spec\.tags\.theirs/);
    await syncing('Syncing');
    await patchBinding({ conflictPolicy: 'Fail' });
  });

  it('is put right where the provider changes our fields, and nothing else of it is', async () => {
    await gadget('drifting', {
      spec: { title: 'ours', flags: ['a', 'b'], steps: [{ run: '1' }, { run: '2' }] },
    });
    const { copy } = await gadgetSynced('drifting');
    await editCopy(copy, (each) => ({
      ...each,
      metadata: { ...each.metadata, annotations: { ...each.metadata.annotations, theirs: 'yes' } },
      spec: { ...spec(each), title: 'drifted', size: 5, steps: [{ run: '2' }, { run: '1' }] },
    }));
    const put = await gadgetSynced('drifting', (each) => spec(each)['title'] === 'ours');
    expect(spec(put.copy)).toMatchObject({
      size: 5,
      steps: [
        { run: '1', retries: 3 },
        { run: '2', retries: 3 },
      ],
    });
    expect(marksOf(put.copy)).toHaveProperty('theirs', 'yes');
    // The order of a set means nothing.
    const reordered = await editCopy(copy, (each) => ({
      ...each,
      spec: { ...spec(each), flags: ['b', 'a'] },
    }));
    await staysTrue(
      async () =>
        (await onProvider('drifting'))?.metadata.resourceVersion === reordered.metadata.resourceVersion,
      { what: 'that the order of a set is left alone', ms: 2000 },
    );
  });

  it('is written once for an edit, also where only the order of a list changes', async () => {
    await gadget('ordered', { spec: { steps: [{ run: '1' }, { run: '2' }], flags: ['a', 'b'] } });
    const { copy } = await gadgetSynced('ordered');
    const start = Date.now();
    await editGadget('ordered', (each) => ({
      ...each,
      spec: { ...spec(each), steps: [{ run: '2' }, { run: '1' }] },
    }));
    await gadgetSynced('ordered', (each) => marksOf(each)[CONSUMER_GENERATION_ANNOTATION] === '2');
    await staysTrue(() => true, { what: 'a while for more writes', ms: 1500 });
    const writes = (await writesSince(kubernetes.auditLog, start)).filter(({ uri }) =>
      uri.includes(`/${copy.metadata.namespace ?? ''}/gadgets/ordered`),
    );
    expect(writes.map(({ verb }) => verb)).toEqual(['patch']);
  });

  it('is made again when it is deleted on the provider, after it has gone', async () => {
    await gadget('deleted', { spec: { title: 'stays' } });
    const { copy, object } = await gadgetSynced('deleted');
    await editCopy(copy, (each) => ({
      ...each,
      metadata: { ...each.metadata, finalizers: ['example.org/teardown'] },
    }));
    await scene.provider.delete(scene.api.gadgets, copy.metadata);
    await writeStatus(scene, scene.api.gadgets, copy, { phase: 'ending' });
    await gadgetSynced('deleted', (_, each) => record(each['status'] ?? {})['phase'] === 'ending');
    await editCopy(copy, (each) => ({ ...each, metadata: { ...each.metadata, finalizers: [] } }));
    const { object: after } = await gadgetSynced(
      'deleted',
      (each) => each.metadata.uid !== copy.metadata.uid,
    );
    expect(after.metadata.uid).toBe(object.metadata.uid);
    expect(after.metadata).not.toHaveProperty('deletionTimestamp');
  });

  it('is seen gone before the object goes, with its status live until then', async () => {
    await gadget('slow');
    const { copy } = await gadgetSynced('slow');
    await editCopy(copy, (each) => ({
      ...each,
      metadata: { ...each.metadata, finalizers: ['example.org/teardown'] },
    }));
    // A finalizer of the workspace's own does not hold the copy up.
    await gadget('kept-by-user', { metadata: { finalizers: ['example.org/consumers-own'] } });
    await gadgetSynced('kept-by-user');
    await remove('slow');
    await remove('kept-by-user');
    await waitFor(async () => (await onProvider('slow'))?.metadata.deletionTimestamp, {
      what: 'the copy to be deleted',
    });
    for (const phase of ['draining', 'still draining']) {
      await writeStatus(scene, scene.api.gadgets, copy, { phase });
      await gadgetSynced('slow', (_, object) => record(object['status'] ?? {})['phase'] === phase);
    }
    await editCopy(copy, (each) => ({ ...each, metadata: { ...each.metadata, finalizers: [] } }));
    await gone('slow');
    expect(await onProvider('slow')).toBeUndefined();
    await waitFor(async () => (await onProvider('kept-by-user')) === undefined, { what: 'its copy to go' });
    const own = await waitFor(
      async () => {
        const object = await find(scene.workspace, scene.api.gadgets, 'kept-by-user');
        return object?.metadata.finalizers?.length === 1 && object;
      },
      { what: 'our finalizer to go' },
    );
    expect(own.metadata.finalizers).toEqual(['example.org/consumers-own']);
    await editGadget('kept-by-user', (each) => ({ ...each, metadata: { ...each.metadata, finalizers: [] } }));
  });

  it('stays as an object of its own by annotation Orphan, and by the binding’s policy', async () => {
    const annotation = 'kcp.kube-bind.io/deletion-policy';
    await gadget('kept', { spec: { title: 'kept' } });
    await gadget('kept-too', { spec: { title: 'kept' } });
    await gadget('overruled');
    for (const name of ['kept', 'kept-too', 'overruled']) await gadgetSynced(name);
    await annotate('kept', annotation, 'Orphan');
    await annotate('overruled', annotation, 'Delete');
    await remove('kept');
    await gone('kept');
    await patchBinding({ deletionPolicy: 'Orphan' });
    await waitFor(async () => !(await readPending()), { what: 'the policy to be taken' });
    for (const name of ['kept-too', 'overruled']) {
      await remove(name);
      await gone(name);
    }
    await patchBinding({ deletionPolicy: 'Delete' });
    for (const name of ['kept', 'kept-too']) {
      const left = await onProvider(name);
      expect(spec(left)).toMatchObject({ title: 'kept' });
      expect(JSON.stringify([left?.metadata.labels, left?.metadata.annotations])).not.toContain(
        'kube-bind.io',
      );
    }
    expect(await onProvider('overruled')).toBeUndefined();
  });

  /** Until the controller has seen the last change of the binding. */
  const readPending = async () => {
    const text = await kubectl(scene.consumer.kubeconfig, [
      'get',
      'kubebindbinding',
      'gadgets',
      '-o',
      'json',
    ]);
    const { metadata, status } = JSON.parse(text) as {
      metadata: { generation: number };
      status: { observedGeneration?: number };
    };
    return status.observedGeneration !== metadata.generation;
  };

  it('is left as it is while object or binding are paused, and then follows the truth', async () => {
    const annotation = 'kcp.kube-bind.io/paused';
    await gadget('paused', { spec: { title: 'one' } });
    await gadget('going');
    const { copy } = await gadgetSynced('paused');
    await gadgetSynced('going');
    await annotate('paused', annotation, 'true');
    const change = (title: string) => editGadget('paused', (each) => ({ ...each, spec: { title } }));
    await change('two');
    const untouched = async () =>
      (await onProvider('paused'))?.metadata.resourceVersion === copy.metadata.resourceVersion;
    await staysTrue(untouched, { what: 'that the copy of a paused object is left alone', ms: 2000 });
    await annotate('paused', annotation, undefined);
    const resumed = await gadgetSynced('paused', (each) => spec(each)['title'] === 'two');

    await patchBinding({ paused: true });
    await syncing('Paused');
    await change('three');
    await change('four');
    await remove('going');
    await gadget('made-meanwhile');
    await writeStatus(scene, scene.api.gadgets, resumed.copy, { phase: 'meanwhile' });
    await staysTrue(
      async () =>
        spec(await onProvider('paused'))['title'] === 'two' &&
        (await onProvider('going')) !== undefined &&
        (await onProvider('made-meanwhile')) === undefined &&
        (await find(scene.workspace, scene.api.gadgets, 'paused'))?.['status'] === undefined,
      { what: 'that a paused binding writes nothing', ms: 2000 },
    );
    await patchBinding({ paused: false });
    await gadgetSynced(
      'paused',
      (each, object) => spec(each)['title'] === 'four' && jsonEqual(object['status'], { phase: 'meanwhile' }),
    );
    await gone('going');
    await gadgetSynced('made-meanwhile');
    expect(await onProvider('going')).toBeUndefined();
  });

  it('that the provider refuses fails alone, with the provider’s words, and recovers by itself', async () => {
    const name = scene.api.template;
    const policy = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: [scene.api.group],
              apiVersions: ['v1'],
              resources: ['gadgets'],
              operations: ['CREATE', 'UPDATE'],
            },
          ],
        },
        validations: [
          {
            expression: '!has(object.spec) || !has(object.spec.size) || object.spec.size < 1000',
            message: 'no more than 1000, says the provider',
          },
        ],
      },
    };
    const binding = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    };
    await apply(kubernetes.kubeconfig, [policy, binding].map((each) => stringify(each)).join('---\n'));
    try {
      // The server takes a moment to heed it.
      await waitFor(
        () =>
          scene.provider
            .create(scene.api.gadgets, manifest(scene.api.gadgets, 'probe', { spec: { size: 1000 } }), {})
            .then(
              () => scene.provider.delete(scene.api.gadgets, at('probe')).then(() => false),
              () => true,
            ),
        { what: 'the provider to refuse', interval: 300 },
      );
      await gadget('refused', { spec: { size: 1 } });
      await gadgetSynced('refused');
      const object = await editGadget('refused', (each) => ({ ...each, spec: { size: 5000 } }));
      await eventWith(scene, object, /^ProviderRefused: .*no more than 1000, says the provider/);
      const condition = await syncing('ObjectsFailing');
      expect(condition.message).toMatch(/^1 object cannot be synced, for example: .*says the provider/);
      expect(await figures()).toMatchObject({ failing: 1 });
      await gadget('neighbour');
      await gadgetSynced('neighbour');
      await editGadget('refused', (each) => ({ ...each, spec: { size: 999 } }));
      await gadgetSynced('refused', (each) => spec(each)['size'] === 999);
      await syncing('Syncing');
      expect(await figures()).toMatchObject({ failing: 0 });
    } finally {
      await kubectl(kubernetes.kubeconfig, ['delete', 'validatingadmissionpolicybinding', name]);
      await kubectl(kubernetes.kubeconfig, ['delete', 'validatingadmissionpolicy', name]);
    }
  });

  it('cannot be made where the provider’s namespace would have too long a name, and the object says so', async () => {
    const name = 'n'.repeat(63);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await scene.workspace.create(GVR.namespaces, namespace);
    const object = await scene.workspace.create(
      scene.api.gadgets,
      manifest(scene.api.gadgets, 'homeless', { metadata: { namespace: name } }),
    );
    expect(await eventWith(scene, object, /./)).toMatch(
      /^ProviderNamespaceMissing: .* use a namespace whose name has no more than \d+\.$/,
    );
    await scene.workspace.delete(scene.api.gadgets, { namespace: name, name: 'homeless' });
    await syncing('Syncing');
  });

  it('comes back when the provider deletes its whole namespace, and objects made meanwhile wait for it', async () => {
    const { copy, object } = await gadgetSynced('first');
    await editCopy(copy, (each) => ({
      ...each,
      metadata: { ...each.metadata, finalizers: ['example.org/teardown'] },
    }));
    await kubectl(kubernetes.kubeconfig, ['delete', 'namespace', mapped, '--wait=false']);
    await waitFor(
      async () => (await scene.provider.get(scene.api.gadgets, copy.metadata)).metadata.deletionTimestamp,
      {
        what: 'the namespace to end',
      },
    );
    const meanwhile = await gadget('meanwhile');
    expect(await eventWith(scene, meanwhile, /./)).toMatch(/^ProviderNamespaceMissing: .*being deleted/);
    await syncing('ObjectsFailing');
    await release(copy);
    await gadgetSynced('meanwhile');
    const { object: after } = await gadgetSynced('first', (each) => each.metadata.uid !== copy.metadata.uid);
    expect(after.metadata.uid).toBe(object.metadata.uid);
    expect(after.metadata).not.toHaveProperty('deletionTimestamp');
  });

  it('costs nothing at rest: fifty objects, five of them deleted and held by others, for two minutes', async () => {
    // Everything, when the other tests have had their effect.
    let calmSince = Date.now();
    await waitFor(
      async () => {
        const last = (await ours(calmSince)).at(-1);
        if (last) calmSince = last.at + 1;
        return Date.now() - calmSince > 5000;
      },
      { what: 'five quiet seconds', interval: 500 },
    );
    const start = Date.now();
    await staysTrue(async () => (await ours(start)).length === 0, {
      what: 'no request at all',
      ms: 10_000,
      interval: 2000,
    });
    // And those that no test has touched, for all the time.
    await waitFor(() => Date.now() - quietSince > 120_000, {
      what: 'two minutes to be over',
      timeout: 130_000,
      interval: 1000,
    });
    const since = quietSince;
    const touched = (await ours(since)).filter(({ uri }) => uri.includes('/gadgets/idle-'));
    expect(touched).toEqual([]);
    await Promise.all(held.map((copy) => release(copy)));
    for (const { metadata } of held)
      await waitFor(async () => !(await idleNames()).includes(metadata.name), {
        what: `${metadata.name} to go from the workspace`,
      });
  });
});
