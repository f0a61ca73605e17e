import type { KubeClient } from '../../src/kube/client.js';
import type { Gvr, KubeObject } from '../../src/kube/object.js';
import { isStatus } from '../../src/kube/errors.js';

/** An object that is nobody's business here, as it was at the start. */
export interface Foreign {
  readonly client: KubeClient;
  readonly gvr: Gvr;
  readonly object: KubeObject;
}

/** Creates an object; what it is a moment later, with what the place's own controllers make of it, counts. */
export async function makeForeign(client: KubeClient, gvr: Gvr, object: KubeObject): Promise<Foreign> {
  return { client, gvr, object: await client.create(gvr, object) };
}

/** As it is now: call it when nothing of its own changes it any more. */
export async function settled(foreign: Foreign): Promise<Foreign> {
  return { ...foreign, object: await read(foreign) };
}

/** Which of them were written, deleted or made again since. */
export async function touched(all: readonly Foreign[]): Promise<string[]> {
  const checks = await Promise.all(all.map(async (foreign) => [foreign, await isTouched(foreign)] as const));
  return checks
    .filter(([, bad]) => bad)
    .map(([{ gvr, object }]) => `${gvr.resource} ${object.metadata.namespace ?? ''}/${object.metadata.name}`);
}

async function isTouched(foreign: Foreign): Promise<boolean> {
  try {
    const { metadata } = await read(foreign);
    return metadata.resourceVersion !== foreign.object.metadata.resourceVersion;
  } catch (error) {
    if (isStatus(error, 404)) return true;
    throw error;
  }
}

function read({ client, gvr, object }: Foreign): Promise<KubeObject> {
  const { name, namespace } = object.metadata;
  return client.get(gvr, { name, ...(namespace === undefined ? {} : { namespace }) });
}
