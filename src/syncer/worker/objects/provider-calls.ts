import { FIELD_MANAGER } from '../../../api/markers.js';
import type { KubeClient, RequestOptions } from '../../../kube/client.js';
import type { JsonValue } from '../../../kube/json-value.js';
import type { Gvr, KubeObject, ObjectName } from '../../../kube/object.js';
import { resourcePath, withQuery } from '../../../kube/paths.js';
import type { GuardedPatch } from '../../engine/consumer-patch.js';
import { payloadOf } from '../../engine/desired-copy.js';
import type { DesiredCopy } from '../../engine/desired-copy.js';
import { lostFields } from '../../engine/lost-fields.js';
import type { JsonPath } from '../../engine/json-pointer.js';
import type { Side } from './side.js';

/** Everything that the sync says to a provider about one copy. Rejects as KubeClient does. */
export class ProviderCalls {
  readonly #client: KubeClient;
  readonly #gvr: Gvr;
  readonly #side: Side;
  readonly #options: RequestOptions;

  constructor(client: KubeClient, gvr: Gvr, side: Side, options: RequestOptions) {
    this.#client = client;
    this.#gvr = gvr;
    this.#side = side;
    this.#options = options;
  }

  /** Undefined where the server says that this very object is not there. */
  async read(target: ObjectName): Promise<KubeObject | undefined> {
    try {
      return await this.#side.call('get', target, () => this.#client.get(this.#gvr, target, this.#options));
    } catch (error) {
      if (this.#side.classify(error, target) === 'gone') return undefined;
      throw error;
    }
  }

  /** First apply, without force: a value that somebody else set meanwhile answers 409. */
  create(target: ObjectName, desired: DesiredCopy): Promise<KubeObject> {
    return this.#apply(target, desired.object, false);
  }

  /** Apply with force to the object of that uid, and in that version where one is given. */
  update(
    target: ObjectName,
    desired: DesiredCopy,
    guard: { readonly uid: string; readonly resourceVersion?: string | undefined },
  ): Promise<KubeObject> {
    const { uid, resourceVersion } = guard;
    const metadata = {
      ...desired.object.metadata,
      uid,
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    return this.#apply(target, { ...desired.object, metadata }, true);
  }

  /** Takes back exactly what an apply without force has put into somebody else's object. */
  withdraw(target: ObjectName, object: KubeObject): Promise<KubeObject> {
    const { apiVersion, kind } = object;
    const { name, namespace, uid = '' } = object.metadata;
    const metadata = namespace === undefined ? { name, uid } : { name, namespace, uid };
    return this.#apply(target, { apiVersion, kind, metadata }, false);
  }

  /** JSON patch, guarded by the caller. */
  patch(target: ObjectName, patch: GuardedPatch): Promise<KubeObject> {
    const options = { ...this.#options, fieldManager: FIELD_MANAGER };
    return this.#side.call('patch', target, () =>
      this.#client.patch(this.#gvr, target, 'json', [...patch], options),
    );
  }

  /** Undefined where the server kept nothing of it. */
  delete(target: ObjectName, uid: string): Promise<KubeObject | undefined> {
    const options = { ...this.#options, uid, propagationPolicy: 'Background' as const };
    return this.#side.call('delete', target, () => this.#client.delete(this.#gvr, target, options));
  }

  /**
   * Fields of the desired copy that the provider's schema does not know, found out by a dry run: other than
   * an apply, a create or JSON patch drops them silently.
   */
  async unknownFields(
    target: ObjectName,
    desired: DesiredCopy,
    exists: boolean,
  ): Promise<readonly JsonPath[]> {
    const answer = await this.#side.call('dryRun', target, () => this.#dryRun(target, desired, exists));
    return lostFields(payloadOf(desired.object), answer);
  }

  #dryRun(target: ObjectName, desired: DesiredCopy, exists: boolean): Promise<JsonValue> {
    if (exists) {
      const operations = Object.entries(payloadOf(desired.object)).map(([key, value]) => ({
        op: 'add',
        path: `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        value: value ?? null,
      }));
      const options = { ...this.#options, fieldManager: FIELD_MANAGER, dryRun: true };
      return this.#client.patch(this.#gvr, target, 'json', operations, options);
    }
    const path = resourcePath(this.#gvr, { namespace: target.namespace });
    const query = { dryRun: 'All', fieldManager: FIELD_MANAGER };
    return this.#client.raw('POST', withQuery(path, query), desired.object, this.#options);
  }

  #apply(target: ObjectName, body: KubeObject, force: boolean): Promise<KubeObject> {
    const options = { ...this.#options, fieldManager: FIELD_MANAGER, force };
    return this.#side.call('apply', target, () =>
      this.#client.patch(this.#gvr, target, 'apply', body, options),
    );
  }
}
