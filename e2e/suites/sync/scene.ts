import { expect } from '@jest/globals';

import { KUBE_BIND } from '../../../src/api/markers.js';
import type { Gvr } from '../../../src/api/gvr.js';
import type { KubeClient } from '../../../src/kube/client.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import { stringifyJson } from '../../../src/kube/json.js';
import type { KubeObject } from '../../../src/kube/object.js';
import { readBench } from '../../harness/bench.js';
import {
  CONTROLLER_TOKEN,
  installClient,
  SHORT_LEASE,
  startController,
  type ClientInstallation,
  type Controller,
  type ControllerOptions,
} from '../../harness/client-installation.js';
import { bindWithPlugin, createConsumer, type Consumer } from '../../harness/consumer.js';
import type { FaultProxy } from '../../harness/fault-proxy.js';
import { clientFor } from '../../harness/kube-client.js';
import { writeKubeconfig } from '../../harness/kubeconfig.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';
import { gadgetApi, gadgetManifests, type GadgetApi } from './gadgets.js';

/** A workspace that has bound kinds of a plain Kubernetes provider, and exact clients for both sides. */
export interface Scene {
  readonly api: GadgetApi;
  readonly installation: ClientInstallation;
  readonly consumer: Consumer;
  /** The workspace, as its owner. */
  readonly workspace: KubeClient;
  /** The provider, as its admin. */
  readonly provider: KubeClient;
  readonly controller: () => Controller;
  /** Ends the controller, and gives what starts another one. */
  stopController(): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/**
 * Installs client and kinds, and binds them with the plugin; about twenty seconds.
 *
 * @param proxy stands between the controller and the workspaces' kcp
 */
export async function openScene(stem: string, proxy?: FaultProxy): Promise<Scene> {
  const bench = readBench();
  const name = uniqueName(stem);
  const dir = `${bench.dir}/${name}`;
  const api = gadgetApi(name);
  const { kubernetes } = bench;
  await apply(kubernetes.kubeconfig, gadgetManifests(api));
  const [installation, consumer, provider] = await Promise.all([
    installClient(bench.consumers, uniqueName('kube-bind')),
    createConsumer('alice'),
    clientFor(kubernetes.kubeconfig),
  ]);
  const options = { installation, dir, ...(proxy && (await throughProxy(proxy, installation))) };
  let controller = await startController(options);
  await bindWithPlugin(consumer, installation, {
    backendUrl: kubernetes.backendUrl,
    template: api.template,
    args: ['--name=gadgets'],
  });
  const workspace = await clientFor(consumer.kubeconfig);
  return {
    api,
    installation,
    consumer,
    workspace,
    provider,
    controller: () => controller,
    stopController: async () => {
      await controller.stop();
      return async () => {
        controller = await startController(options);
      };
    },
    close: async () => {
      await controller.stop();
      await Promise.all([workspace.close(), provider.close()]);
      const crds = [`gadgets.${api.group}`, `memos.${api.group}`];
      const { kubeconfig } = kubernetes;
      await kubectl(kubeconfig, ['delete', 'apiserviceexporttemplate', api.template]);
      await kubectl(kubeconfig, ['delete', 'crd', ...crds, '--wait=false']);
    },
  };
}

async function throughProxy(
  proxy: FaultProxy,
  { kcp, workspace }: ClientInstallation,
): Promise<Pick<ControllerOptions, 'kubeconfig' | 'args'>> {
  const kubeconfig = await writeKubeconfig(`${kcp.dir}/kubeconfigs/${workspace.cluster}-proxied.yaml`, {
    server: `${proxy.address}/clusters/${workspace.path}`,
    ca: kcp.ca,
    token: CONTROLLER_TOKEN,
  });
  return { kubeconfig, args: [...SHORT_LEASE, `--vw-url-map=${kcp.address}=${proxy.address}`] };
}

/** Adds a field `grade` with a default to the provider's API, at three depths, or takes it away. */
export async function growGadgets({ provider, api }: Scene, operation: 'add' | 'remove'): Promise<void> {
  const properties = '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties';
  const paths = ['', '/parts/items/properties', '/steps/items/properties'];
  await provider.patch(
    { group: 'apiextensions.k8s.io', version: 'v1', resource: 'customresourcedefinitions' },
    { name: `gadgets.${api.group}` },
    'json',
    paths.map((path) => ({
      op: operation,
      path: `${properties}${path}/grade`,
      ...(operation === 'add' && { value: { type: 'string', default: 'plain' } }),
    })),
  );
}

/** An object of one of the kinds, as a user writes it. */
export function manifest(gvr: Gvr, name: string, rest: JsonObject = {}): KubeObject {
  const { metadata, ...fields } = rest;
  return {
    apiVersion: `${gvr.group}/${gvr.version}`,
    kind: gvr.resource === 'memos' ? 'Memo' : 'Gadget',
    ...fields,
    metadata: { name, namespace: 'default', ...(metadata as JsonObject | undefined) },
  };
}

/** The only copy of an object, by the UID that it carries; undefined where there is none (yet). */
export async function copyOf(scene: Scene, gvr: Gvr, object: KubeObject): Promise<KubeObject | undefined> {
  const { items } = await scene.provider.list(gvr);
  const copies = items.filter((item) => marksOf(item)[KUBE_BIND.consumerUid] === object.metadata.uid);
  expect(copies.length).toBeLessThan(2);
  return copies[0];
}

/** The provider's marks, and all else that is written on an object. */
export function marksOf(object: KubeObject): Record<string, string> {
  return object.metadata.annotations ?? {};
}

/** Waits until an object has a copy that is as wanted, and gives both as they are then. */
export async function synced(
  scene: Scene,
  gvr: Gvr,
  name: string,
  wanted: (copy: KubeObject, object: KubeObject) => boolean = () => true,
): Promise<{ readonly object: KubeObject; readonly copy: KubeObject }> {
  let seen: JsonObject = {};
  return waitFor(
    async () => {
      const object = await scene.workspace.get(gvr, { namespace: 'default', name });
      const copy = await copyOf(scene, gvr, object);
      seen = { object, copy };
      return copy !== undefined && wanted(copy, object) && { object, copy };
    },
    { what: `the copy of ${gvr.resource} ${name} to be as wanted`, timeout: 60_000, interval: 100 },
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}; seen: ${stringifyJson(seen).slice(0, 6000)}`);
  });
}

/** The object of that name, or undefined where the server says that there is none. */
export async function find(client: KubeClient, gvr: Gvr, name: string): Promise<KubeObject | undefined> {
  try {
    return await client.get(gvr, { namespace: 'default', name });
  } catch (error) {
    if (isStatus(error, 404)) return undefined;
    throw error;
  }
}

/** Writes the whole status of a copy, as the provider's own controller would. */
export async function writeStatus(
  scene: Scene,
  gvr: Gvr,
  copy: KubeObject,
  status: JsonObject | undefined,
): Promise<KubeObject> {
  const { name, namespace } = copy.metadata;
  const now = await scene.provider.get(gvr, { namespace, name });
  return scene.provider.replace(
    gvr,
    { ...now, ...(status === undefined ? { status: undefined } : { status }) },
    { subresource: 'status' },
  );
}

/** Texts of the events about an object in the workspace, as `reason: message`. */
export async function eventsOf(scene: Scene, object: KubeObject): Promise<string[]> {
  const { items } = await scene.workspace.list({ group: '', version: 'v1', resource: 'events' });
  return items
    .filter((event) => (event['involvedObject'] as JsonObject)['uid'] === object.metadata.uid)
    .map((event) => `${event['reason'] as string}: ${event['message'] as string}`);
}

/** Waits for an event about an object. */
export async function eventWith(scene: Scene, object: KubeObject, pattern: RegExp): Promise<string> {
  return waitFor(async () => (await eventsOf(scene, object)).find((each) => pattern.test(each)), {
    what: `an event ${String(pattern)} about ${object.metadata.name}`,
    timeout: 60_000,
    interval: 300,
  });
}

/** Changes an object as a user does who reads it first; tries again where somebody else was faster. */
export async function edit(
  client: KubeClient,
  gvr: Gvr,
  target: { readonly namespace?: string | undefined; readonly name: string },
  change: (object: KubeObject) => KubeObject,
): Promise<KubeObject> {
  for (;;) {
    try {
      return await client.replace(gvr, change(await client.get(gvr, target)));
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
    }
  }
}

/** Where the objects of these suites are. */
export function at(name: string): { readonly namespace: string; readonly name: string } {
  return { namespace: 'default', name };
}
