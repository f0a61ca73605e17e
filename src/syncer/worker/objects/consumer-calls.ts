import { KCP_CLUSTER_ANNOTATION } from '../../../api/markers.js';
import type { KubeClient, RequestOptions } from '../../../kube/client.js';
import type { Gvr, KubeObject, LogicalCluster, ObjectName } from '../../../kube/object.js';
import type { GuardedPatch } from '../../engine/consumer-patch.js';
import { withoutManagedFields } from '../../engine/managed-fields.js';
import type { Side } from './side.js';

export interface ConsumerCallsOptions {
  /** At the workspace's path of the generated export's virtual workspace. */
  readonly client: KubeClient;
  readonly gvr: Gvr;
  readonly cluster: LogicalCluster;
  readonly side: Side;
  readonly request: RequestOptions;
}

/**
 * Everything that the sync says to the consumer's workspace about one object. There is no apply here: kcp's
 * virtual workspaces answer 200 to it but merge, so nothing would ever be removed.
 */
export class ConsumerCalls {
  readonly #options: ConsumerCallsOptions;

  constructor(options: ConsumerCallsOptions) {
    this.#options = options;
  }

  /** Undefined where the server says that this very object is not there. */
  async read(target: ObjectName): Promise<KubeObject | undefined> {
    const { client, gvr, side, request } = this.#options;
    try {
      const object = await side.call('get', target, () => client.get(gvr, target, request));
      return this.#own(object);
    } catch (error) {
      if (side.classify(error, target) === 'gone') return undefined;
      throw error;
    }
  }

  /** JSON patch, guarded by the caller. */
  async patch(target: ObjectName, patch: GuardedPatch): Promise<KubeObject> {
    const { client, gvr, side, request } = this.#options;
    return this.#own(
      await side.call('patch', target, () => client.patch(gvr, target, 'json', [...patch], request)),
    );
  }

  /** PUT of `/status`; the object holds the resourceVersion that it was decided for. */
  async putStatus(object: KubeObject): Promise<KubeObject> {
    const { client, gvr, side, request } = this.#options;
    const options = { ...request, subresource: 'status' as const };
    return this.#own(
      await side.call('putStatus', object.metadata, () => client.replace(gvr, object, options)),
    );
  }

  /**
   * True only where the API is bound and served and a GET says that this object is not there. Anything else
   * that may hide an object (403, a path that is not served, no answer) rejects.
   */
  async isGone(target: ObjectName): Promise<boolean> {
    const { client, gvr, side, request } = this.#options;
    await side.call('list', target, () => client.list(gvr, { ...request, limit: 1 }));
    return (await this.read(target)) === undefined;
  }

  #own(object: KubeObject): KubeObject {
    return ofWorkspace(this.#options.cluster, object);
  }
}

/**
 * The object without managedFields.
 *
 * @throws ForeignClusterError for another workspace's object: a server's fault, whose answer is never used
 */
export function ofWorkspace(cluster: LogicalCluster, object: KubeObject): KubeObject {
  if (object.metadata.annotations?.[KCP_CLUSTER_ANNOTATION] !== cluster)
    throw new ForeignClusterError(object.metadata.name);
  return withoutManagedFields(object);
}

/** The virtual workspace of one workspace answered with an object of another one. */
export class ForeignClusterError extends Error {
  override readonly name = 'ForeignClusterError';
  readonly code = 'SYNC_FOREIGN_CLUSTER';

  constructor(objectName: string) {
    super(`the server answered with an object ${objectName} of another workspace; it is not used`);
  }
}
