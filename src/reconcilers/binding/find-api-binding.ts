import { GVR } from '../../api/gvr.js';
import type { KubeClient } from '../../kube/client.js';
import { ApiError } from '../../kube/errors.js';
import type { KubeObject } from '../../kube/object.js';
import type { ObjectStore } from '../../kube/cache/object-store.js';
import type { WorkspaceClient } from '../../vw-client/virtual-workspace.js';
import type { ExportHome, WorkspaceClaims } from '../claims.js';
import { refersTo } from '../claims.js';
import { KCP_CLUSTER_ANNOTATION } from '../../api/markers.js';
import { isDeleting, textAt } from '../views.js';
import { detail } from '../conditions.js';
import type { GeneratedWorkspace } from './generated-workspace.js';
import type { ApiBindingView } from './observation.js';
import { generatedNames, isOurApiBinding } from './owner.js';
import type { BindingRef } from './owner.js';

const PAGE = 250;

export interface ApiBindingSources {
  /** APIBindings of all workspaces as far as the client export's virtual workspace shows them. */
  readonly store: ObjectStore;
  readonly workspace: WorkspaceClient;
  readonly claims: WorkspaceClaims;
  /** The workspace through the generated export, where no claim is needed to see the APIBinding to it. */
  readonly generated: readonly GeneratedWorkspace[];
  readonly home: ExportHome;
}

/**
 * Looks for APIBindings to the generated export, by what they refer to. "None" is only said when a live and
 * complete answer says so; whatever cannot be asked makes it "unknown".
 *
 * @param live never from the cache: for a deletion, where "gone" must be seen
 */
export async function findApiBinding(
  ref: BindingRef,
  sources: ApiBindingSources,
  live: boolean,
): Promise<ApiBindingView> {
  const { exportName } = generatedNames(ref);
  const toUs = (object: KubeObject): boolean => refersTo(object, sources.home, exportName);
  if (!live) {
    const cached = [...sources.store.inCluster(ref.cluster)].filter(toUs);
    if (cached.length > 0) return view(ref, cached, sources.home);
  }
  const claimed = await listClaimed(sources);
  const found = new Map((claimed ?? []).filter(toUs).map((object) => [object.metadata.name, object]));
  const answers = await Promise.all(sources.generated.map((each) => listGenerated(ref, each)));
  for (const object of answers.flatMap((answer) => answer ?? []).filter(toUs))
    found.set(object.metadata.name, object);
  if (found.size > 0) return view(ref, [...found.values()], sources.home);
  const taken = claimed?.find(({ metadata }) => metadata.name === generatedNames(ref).apiBinding);
  if (taken !== undefined) return { kind: 'name-taken', refersTo: referenceText(taken) };
  // Without the claim the generated export's own virtual workspace is the only witness.
  const silent = answers.findIndex((answer) => answer === undefined);
  if (claimed === undefined && silent >= 0) {
    const url = sources.generated[silent]?.url ?? '';
    return {
      kind: 'unknown',
      message: `The virtual workspace ${detail(url)} does not tell whether the API is bound.`,
    };
  }
  return { kind: 'none' };
}

function view(ref: BindingRef, objects: readonly KubeObject[], home: ExportHome): ApiBindingView {
  const [first, ...others] = objects;
  if (first !== undefined && others.length === 0) {
    return { kind: 'found', object: first, ours: isOurApiBinding(first, ref, home) };
  }
  // One that is on its way out no longer counts as a second one.
  const staying = objects.filter((object) => !isDeleting(object));
  const [only] = staying;
  if (only !== undefined && staying.length === 1) {
    return { kind: 'found', object: only, ours: isOurApiBinding(only, ref, home) };
  }
  return {
    kind: 'several',
    names: objects.map(({ metadata }) => metadata.name),
    ours: objects.find((object) => isOurApiBinding(object, ref, home)),
  };
}

/** Undefined when the workspace does not let us see all of its APIBindings. */
async function listClaimed({ workspace, claims }: ApiBindingSources): Promise<KubeObject[] | undefined> {
  if (!claims.allows(GVR.apiBindings, 'get', 'list')) return undefined;
  try {
    return await listAll(workspace);
  } catch (error) {
    // The claim was taken back, or the workspace is being served from elsewhere: not an answer.
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}

/**
 * Undefined when this URL does not answer. A workspace without a binding answers 403 there, which alone
 * proves nothing; the list over all workspaces then tells.
 */
async function listGenerated(
  ref: BindingRef,
  generated: GeneratedWorkspace,
): Promise<KubeObject[] | undefined> {
  try {
    return await listAll(generated.client);
  } catch (error) {
    if (!(error instanceof ApiError)) return undefined;
  }
  try {
    const everywhere = await listAll(generated.everywhere);
    return everywhere.filter(
      ({ metadata }) => metadata.annotations?.[KCP_CLUSTER_ANNOTATION] === ref.cluster,
    );
  } catch {
    return undefined;
  }
}

async function listAll(client: Pick<KubeClient, 'list'>): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  let next: string | undefined;
  do {
    const page = await client.list(GVR.apiBindings, {
      limit: PAGE,
      ...(next === undefined ? {} : { continue: next }),
    });
    objects.push(...page.items);
    next = page.continue;
  } while (next !== undefined && next !== '');
  return objects;
}

function referenceText(apiBinding: KubeObject): string {
  const path = textAt(apiBinding, 'spec', 'reference', 'export', 'path') ?? '';
  return `${path}:${textAt(apiBinding, 'spec', 'reference', 'export', 'name') ?? ''}`;
}
