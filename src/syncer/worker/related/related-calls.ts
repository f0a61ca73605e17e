import type { KubeClient, RequestOptions } from '../../../kube/client.js';
import { isStatus } from '../../../kube/errors.js';
import { GVR } from '../../../api/gvr.js';
import type { Gvr, KubeObject, ObjectName } from '../../../kube/object.js';
import type { GuardedPatch } from '../../engine/consumer-patch.js';
import type { Side } from '../objects/side.js';

export interface RelatedCallsOptions {
  readonly client: KubeClient;
  readonly gvr: Gvr;
  readonly side: Side;
  readonly request: RequestOptions;
  /** What is kept of an answer; throws for one that must not be used. */
  readonly accept: (object: KubeObject) => KubeObject;
}

/**
 * Everything that the sync says to one of the two servers about related objects. Neither side is spoken to with
 * server-side apply: a virtual workspace would merge it, and copies are decided as a whole. Rejects as KubeClient does.
 */
export class RelatedCalls {
  readonly #options: RelatedCallsOptions;

  constructor(options: RelatedCallsOptions) {
    this.#options = options;
  }

  /** Undefined where the server says that this very object is not there. */
  async read(target: ObjectName): Promise<KubeObject | undefined> {
    const { client, gvr, side, request, accept } = this.#options;
    try {
      return accept(await side.call('get', target, () => client.get(gvr, target, request)));
    } catch (error) {
      if (side.classify(error, target) === 'gone') return undefined;
      throw error;
    }
  }

  /** True only where the API is served and a GET says that this object is not there; what hides it rejects. */
  async isGone(target: ObjectName): Promise<boolean> {
    const { client, gvr, side, request } = this.#options;
    const { namespace } = target;
    await side.call('list', target, () => client.list(gvr, { ...request, namespace, limit: 1 }));
    return (await this.read(target)) === undefined;
  }

  /** 409 where there is one of that name already. */
  async create(object: KubeObject): Promise<KubeObject> {
    const { client, gvr, side, request, accept } = this.#options;
    return accept(await side.call('create', object.metadata, () => client.create(gvr, object, request)));
  }

  /** 409 unless the object is the one, and in the state, that uid and resourceVersion in it say. */
  async replace(object: KubeObject): Promise<KubeObject> {
    const { client, gvr, side, request, accept } = this.#options;
    return accept(await side.call('replace', object.metadata, () => client.replace(gvr, object, request)));
  }

  /** JSON patch, guarded by the caller. */
  async patch(target: ObjectName, patch: GuardedPatch): Promise<KubeObject> {
    const { client, gvr, side, request, accept } = this.#options;
    return accept(
      await side.call('patch', target, () => client.patch(gvr, target, 'json', [...patch], request)),
    );
  }

  /** Deletes exactly the object that was seen; undefined where the server kept nothing of it. */
  async delete({ metadata }: KubeObject): Promise<KubeObject | undefined> {
    const { client, gvr, side, request, accept } = this.#options;
    const { uid, resourceVersion } = metadata;
    const options = { ...request, uid, resourceVersion, propagationPolicy: 'Background' as const };
    const left = await side.call('delete', metadata, () => client.delete(gvr, metadata, options));
    return left?.metadata.deletionTimestamp === undefined ? undefined : accept(left);
  }

  /** Makes a namespace; one that is there already is fine. */
  async createNamespace(name: string): Promise<void> {
    const { client, side, request } = this.#options;
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    try {
      await side.call('create', { name }, () => client.create(GVR.namespaces, namespace, request));
    } catch (error) {
      if (!isStatus(error, 409)) throw error;
    }
  }
}
