import { BINDINGS, CONNECTIONS } from '../../../src/api/group.js';
import { GVR, type Gvr } from '../../../src/api/gvr.js';
import { resourcePath } from '../../../src/kube/paths.js';
import { isJsonObject } from '../../../src/kube/json-value.js';
import { isObjectNotFound, isStatus } from '../../../src/kube/errors.js';
import type { KubeObject } from '../../../src/kube/object.js';
import type { CommandContext, Session } from '../command-context.js';
import { listBindings } from '../objects.js';
import { objectName } from '../output/documents.js';
import type { Connection } from '../typed-objects.js';
import type { BindOptions } from './bind-options.js';
import { findConnection, type ConnectionWish } from './connection.js';
import { decideClaims, plannedClaims } from './consent.js';
import { bindingManifest, connectionManifest } from './manifests.js';
import { planBinding } from './plan-bindings.js';
import { plannedClient } from './planned-client.js';

/**
 * The objects that a run with these flags would create, in the order in which they are applied. What exists
 * is left out. Reads the workspace, writes nothing. The connection has no login challenge: whoever applies it
 * types the code of its status on the login page instead.
 */
export async function plannedObjects(
  context: CommandContext,
  session: Session,
  options: BindOptions,
  wish: ConnectionWish,
): Promise<KubeObject[]> {
  const objects = await plannedClient(context, session, options.client);
  const found = await findConnection(context, session, wish);
  const connection = found.kind === 'use' ? found.connection : undefined;
  const name = found.kind === 'use' ? found.connection.metadata.name : found.name;
  if (connection === undefined) objects.push(connectionManifest({ name, backend: wish.backend }));
  const existing = (await listBindings(session.client, context.signal)) ?? [];
  for (const template of options.wish.templates) {
    const claims = claimsOf(connection, template, options);
    const step = planBinding(existing, name, { template, name: options.wish.name, claims });
    if (step.kind === 'create') objects.push(bindingManifest({ ...step, connection: name }));
    else context.report.note(`KubeBindBinding ${step.binding.metadata.name} exists and is left out`);
  }
  if (options.wish.templates.length === 0) {
    context.report.note('No --template was given, so no KubeBindBinding is shown');
  }
  return objects;
}

function claimsOf(
  connection: Connection | undefined,
  template: string,
  options: BindOptions,
): ReturnType<typeof plannedClaims> {
  const { acceptance } = options.wish;
  const offer = connection?.status?.offers?.find((one) => one.template === template);
  return offer === undefined || acceptance.kind === 'unsaid'
    ? plannedClaims(acceptance)
    : decideClaims(offer, acceptance);
}

/** Prints the planned objects, after the server has looked at them where `server` is asked for. */
export async function showPlan(
  context: CommandContext,
  session: Session,
  planned: readonly KubeObject[],
  mode: 'client' | 'server',
): Promise<void> {
  const objects: KubeObject[] = [];
  for (const object of planned) {
    objects.push(mode === 'client' ? object : await checkedByServer(context, session, object));
  }
  if (await context.report.objects(objects)) return;
  if (objects.length === 0) context.report.result('Nothing would be created');
  const suffix = mode === 'server' ? '(server dry run)' : '(dry run)';
  for (const object of objects) context.report.result(`${objectName(object)} created ${suffix}`);
}

async function checkedByServer(
  context: CommandContext,
  session: Session,
  object: KubeObject,
): Promise<KubeObject> {
  const target = resourcePath(resourceOf(object), { namespace: object.metadata.namespace });
  try {
    const path = `${target}?dryRun=All`;
    const answer = await session.client.raw('POST', path, object, { signal: context.signal });
    // `as`: the server answers a create with the object.
    return isJsonObject(answer) ? (answer as KubeObject) : object;
  } catch (error) {
    if (!isStatus(error, 404) || isObjectNotFound(error)) throw error;
    context.report.warn(
      `the server does not serve ${object.kind} before the APIBinding exists, so it could not check ${object.metadata.name}`,
    );
    return object;
  }
}

function resourceOf(object: KubeObject): Gvr {
  switch (object.kind) {
    case 'APIBinding':
      return GVR.apiBindings;
    case 'Secret':
      return GVR.secrets;
    case 'KubeBindConnection':
      return CONNECTIONS;
    default:
      return BINDINGS;
  }
}
