import { BINDINGS } from '../../../src/api/group.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listBindings } from '../objects.js';
import { asBinding, type Binding } from '../typed-objects.js';
import { resourceBindingManifest } from './manifests.js';
import type { WantedResource } from './resource-flag.js';
import { isLeaving } from './same-backend.js';

/**
 * Makes sure that a binding to resources without a template exists.
 *
 * @param wanted `name` undefined: named after the first resource
 * @throws PluginError CONFLICT when the name is taken
 */
export async function ensureResourceBinding(
  context: CommandContext,
  session: Session,
  wanted: {
    readonly connection: string;
    readonly name: string | undefined;
    readonly resources: readonly WantedResource[];
  },
): Promise<Binding> {
  const { connection, resources } = wanted;
  const name = wanted.name ?? resources[0]?.resource ?? '';
  const existing = ((await listBindings(session.client, context.signal)) ?? []).find(
    ({ metadata }) => metadata.name === name,
  );
  if (existing !== undefined) {
    const same =
      existing.spec.connection === connection && sameResources(existing.spec.resources ?? [], resources);
    if (same && !isLeaving(existing)) {
      context.report.note(`KubeBindBinding ${name} exists already`);
      return existing;
    }
    throw new PluginError({
      code: 'CONFLICT',
      message: `KubeBindBinding ${name} exists and is for something else, or is being deleted`,
      remedy: 'choose another name with --name',
    });
  }
  try {
    const manifest = resourceBindingManifest({ name, connection, resources });
    const created = asBinding(await session.client.create(BINDINGS, manifest, { signal: context.signal }));
    context.report.note(`Created KubeBindBinding ${name}`);
    return created;
  } catch (error) {
    // Another run was quicker: what it made is looked at like any other.
    if (isStatus(error, 409)) return ensureResourceBinding(context, session, wanted);
    throw error;
  }
}

function sameResources(a: readonly WantedResource[], b: readonly WantedResource[]): boolean {
  const text = (list: readonly WantedResource[]): string =>
    list
      .map(({ group, resource, versions }) => `${resource}.${group}/${versions.join('+')}`)
      .sort()
      .join();
  return text(a) === text(b);
}
