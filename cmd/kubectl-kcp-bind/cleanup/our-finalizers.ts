import { BINDINGS, CONNECTIONS } from '../../../src/api/group.js';
import type { Gvr } from '../../../src/api/gvr.js';
import { CLEANUP_FINALIZER, SYNCER_FINALIZER } from '../../../src/api/markers.js';
import { ApiError, isStatus } from '../../../src/kube/errors.js';
import { isJsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import type { CommandContext, Session } from '../command-context.js';
import { listApiBindings } from '../objects.js';

/** Finalizers that only our controller takes off. */
const OURS: ReadonlySet<string> = new Set([CLEANUP_FINALIZER, SYNCER_FINALIZER]);
/** Generated exports are called so. */
const GENERATED = 'kbb-';
const PAGE = 500;
const MAX_PAGES = 200;
const ATTEMPTS = 5;

/** An object that carries a finalizer of ours. */
export interface HeldObject {
  readonly gvr: Gvr;
  readonly object: KubeObject;
}

/**
 * Everything in the workspace that our finalizers hold: objects of bound APIs first, then bindings, then connections,
 * in the order in which they are let go.
 *
 * @returns also the kinds that could not be read
 */
export async function findHeld(
  context: CommandContext,
  session: Session,
): Promise<{ readonly held: readonly HeldObject[]; readonly unread: readonly string[] }> {
  const held: HeldObject[] = [];
  const unread: string[] = [];
  for (const gvr of [...(await boundApis(context, session)), BINDINGS, CONNECTIONS]) {
    try {
      const objects = await listAll(context, session, gvr);
      held.push(...objects.filter(isHeld).map((object) => ({ gvr, object })));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 404) unread.push(`${gvr.resource}.${gvr.group}`);
    }
  }
  return { held, unread };
}

/** Takes our finalizers off one object, and nothing else; an object that has gone meanwhile is done. */
export async function letGo(context: CommandContext, session: Session, held: HeldObject): Promise<void> {
  try {
    await patchFinalizers(context, session, held);
  } catch (error) {
    if (!isStatus(error, 404)) throw error;
  }
}

async function patchFinalizers(context: CommandContext, session: Session, held: HeldObject): Promise<void> {
  const { gvr } = held;
  const { name, namespace, uid } = held.object.metadata;
  const target = { name, ...(namespace === undefined ? {} : { namespace }) };
  const { signal } = context;
  let current = held.object;
  for (let attempt = 1; ; attempt += 1) {
    const { finalizers = [], resourceVersion = '' } = current.metadata;
    const kept = finalizers.filter((one) => !OURS.has(one));
    if (kept.length === finalizers.length || current.metadata.uid !== uid) return;
    try {
      const body = { metadata: { resourceVersion, finalizers: kept } };
      await session.client.patch(gvr, target, 'merge', body, { signal });
      return;
    } catch (error) {
      if (!isStatus(error, 409) || attempt === ATTEMPTS) throw error;
    }
    current = await session.client.get(gvr, target, { signal });
  }
}

function isHeld(object: KubeObject): boolean {
  return object.metadata.finalizers?.some((name) => OURS.has(name)) === true;
}

/** The APIs of generated exports, each in a version that is served. */
async function boundApis(context: CommandContext, session: Session): Promise<Gvr[]> {
  const bindings = await listApiBindings(session.client, context.signal);
  const bound = bindings
    .filter(({ spec }) => (spec.reference?.export?.name ?? '').startsWith(GENERATED))
    .flatMap(({ status }) => status?.boundResources ?? []);
  const apis: Gvr[] = [];
  for (const { group, resource } of bound) {
    const version = await servedVersion(context, session, group);
    if (version !== undefined) apis.push({ group, version, resource });
  }
  return apis;
}

async function servedVersion(
  context: CommandContext,
  session: Session,
  group: string,
): Promise<string | undefined> {
  try {
    const answer = await session.client.raw('GET', `/apis/${encodeURIComponent(group)}`, undefined, {
      signal: context.signal,
    });
    const preferred = isJsonObject(answer) ? answer['preferredVersion'] : undefined;
    const version = isJsonObject(preferred) ? preferred['version'] : undefined;
    return typeof version === 'string' ? version : undefined;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function listAll(context: CommandContext, session: Session, gvr: Gvr): Promise<KubeObject[]> {
  const items: KubeObject[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const list = await session.client.list(gvr, { limit: PAGE, continue: token, signal: context.signal });
    items.push(...list.items);
    token = list.continue;
    if (token === undefined || token === '') break;
  }
  return items;
}
