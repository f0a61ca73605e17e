import { BINDINGS, CONNECTIONS } from '../../src/api/group.js';
import { GVR, type Gvr } from '../../src/api/gvr.js';
import type { KubeClient } from '../../src/kube/client.js';
import { isObjectNotFound, isStatus } from '../../src/kube/errors.js';
import type { KubeObject } from '../../src/kube/object.js';
import { PluginError } from './errors.js';
import {
  asApiBinding,
  asBinding,
  asConnection,
  type ApiBinding,
  type Binding,
  type Connection,
} from './typed-objects.js';

const PAGE = 500;
/** 10,000 objects: more than any workspace is meant to hold of these kinds. */
const MAX_PAGES = 20;

/** All objects of a cluster-scoped kind; undefined where the workspace does not serve the kind. */
async function listAll(client: KubeClient, gvr: Gvr, signal: AbortSignal): Promise<KubeObject[] | undefined> {
  const items: KubeObject[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    try {
      const list = await client.list(gvr, { limit: PAGE, continue: token, signal });
      items.push(...list.items);
      token = list.continue;
    } catch (error) {
      if (isStatus(error, 404)) return undefined;
      throw error;
    }
    if (token === undefined || token === '') break;
  }
  return items;
}

/** The workspace's connections, by name; undefined where the kind is not served (nothing is installed). */
export async function listConnections(
  client: KubeClient,
  signal: AbortSignal,
): Promise<Connection[] | undefined> {
  return (await listAll(client, CONNECTIONS, signal))?.map(asConnection).sort(byName);
}

/** The workspace's bindings, by name; undefined where the kind is not served. */
export async function listBindings(client: KubeClient, signal: AbortSignal): Promise<Binding[] | undefined> {
  return (await listAll(client, BINDINGS, signal))?.map(asBinding).sort(byName);
}

/** The workspace's APIBindings, by name. */
export async function listApiBindings(client: KubeClient, signal: AbortSignal): Promise<ApiBinding[]> {
  const items = await listAll(client, GVR.apiBindings, signal);
  if (items === undefined) {
    throw new PluginError({
      code: 'WORKSPACE',
      message: `${client.baseUrl} serves no APIBindings: it is no kcp workspace, or does not exist`,
      remedy: 'enter a workspace with `kubectl ws`, or choose another context with --context',
    });
  }
  return items.map(asApiBinding).sort(byName);
}

/** The object, or undefined where it is not there (or its kind is not served). */
export async function getOptional(
  client: KubeClient,
  gvr: Gvr,
  name: string,
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(gvr, { name }, { signal });
  } catch (error) {
    if (isObjectNotFound(error) || isStatus(error, 404)) return undefined;
    throw error;
  }
}

function byName(a: { metadata: { name: string } }, b: { metadata: { name: string } }): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
