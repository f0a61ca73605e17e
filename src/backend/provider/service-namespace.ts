import { GVR } from '../../api/gvr.js';
import { COMPONENT_LABEL, KUBE_BIND } from '../../api/markers.js';
import type { RequestOptions } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import { isObjectNotFound, isStatus, KubeError } from '../../kube/errors.js';
import type { KubeObject } from '../../kube/object.js';
import type { ProviderContract } from './contract.js';
import type { Removal } from './export-request.js';
import { mapServiceNamespace, type NamespaceMapping } from './namespace-mapping.js';

const SERVICE_NAMESPACE_COMPONENT = 'service-namespace';
const DEADLINE_MS = 30_000;
const SILENCE_MS = 60_000;
const RETRY_MS = 500;

export interface EnsureNamespaceOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to wait for the provider's namespace. Default 30 s; a backend normally needs less than one. */
  readonly deadlineMs?: number | undefined;
  readonly timeoutMs?: number | undefined;
}

/**
 * Reads the APIServiceNamespace of a consumer's namespace, and makes it where there is none: without an owner, since
 * the export that first needed it would take the namespace, and all other exports' objects in it, along when it goes.
 * Does not wait. Rejects with the errors of KubeClient.
 */
export async function requestServiceNamespace(
  { client, namespace }: ProviderContract,
  name: string,
  options?: RequestOptions,
): Promise<KubeObject> {
  try {
    return await client.get(GVR.serviceNamespaces, { namespace, name }, options);
  } catch (error) {
    if (!isObjectNotFound(error)) throw error;
  }
  try {
    return await client.create(GVR.serviceNamespaces, serviceNamespace(namespace, name), options);
  } catch (error) {
    if (!isStatus(error, 409)) throw error;
    return await client.get(GVR.serviceNamespaces, { namespace, name }, options);
  }
}

function serviceNamespace(namespace: string, name: string): KubeObject {
  return {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceNamespace',
    metadata: { name, namespace, labels: { [COMPONENT_LABEL]: SERVICE_NAMESPACE_COMPONENT } },
    spec: {},
  };
}

/**
 * As above, and follows the object until the provider has said which namespace it is, or the deadline is over
 * (`pending`), or it is being deleted (`terminating`; call again later).
 */
export async function ensureServiceNamespace(
  contract: ProviderContract,
  name: string,
  options: EnsureNamespaceOptions,
): Promise<NamespaceMapping> {
  const { clock, signal } = options;
  const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
  const over = new AbortController();
  const cancel = clock.after(deadlineMs, () => {
    over.abort();
  });
  const both = signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]);
  try {
    while (!over.signal.aborted) {
      const object = await requestServiceNamespace(contract, name, {
        signal: both,
        timeoutMs: options.timeoutMs,
      });
      const mapping = mapServiceNamespace(object);
      if (mapping.state !== 'pending') return mapping;
      const followed = await follow(contract, object, deadlineMs, both);
      if (followed !== undefined) return followed;
      await clock.sleep(RETRY_MS, both);
    }
  } catch (error) {
    if (!over.signal.aborted || signal?.aborted === true) throw error;
  } finally {
    cancel();
  }
  return { state: 'pending' };
}

/** Undefined when the watch ended without a decision: read again. */
async function follow(
  { client, namespace }: ProviderContract,
  object: KubeObject,
  serverTimeoutMs: number,
  signal: AbortSignal,
): Promise<NamespaceMapping | undefined> {
  const { name, resourceVersion = '' } = object.metadata;
  const events = client.watch(GVR.serviceNamespaces, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    serverTimeoutMs,
    silenceMs: SILENCE_MS,
    signal,
  });
  try {
    for await (const event of events) {
      if (event.type === 'DELETED') return undefined;
      if (event.type === 'BOOKMARK' || event.object.metadata.name !== name) continue;
      const mapping = mapServiceNamespace(event.object);
      if (mapping.state !== 'pending') return mapping;
    }
  } catch (error) {
    // Expired, cut off, or not allowed to watch: reading again finds out.
    if (!(error instanceof KubeError)) throw error;
  }
  return undefined;
}

/**
 * Deletes the APIServiceNamespace if we made it, and with it the provider's namespace and all that is in it: call
 * it only when no binding of the contract has a copy there any more. Does not wait for the namespace to be gone.
 */
export async function removeServiceNamespace(
  { client, namespace }: ProviderContract,
  name: string,
  options: RequestOptions = {},
): Promise<Removal> {
  try {
    const { metadata } = await client.get(GVR.serviceNamespaces, { namespace, name }, options);
    const ours =
      metadata.labels?.[COMPONENT_LABEL] === SERVICE_NAMESPACE_COMPONENT &&
      metadata.labels[KUBE_BIND.owner] !== 'provider' &&
      (metadata.ownerReferences ?? []).length === 0;
    if (!ours) return 'foreign';
    await client.delete(GVR.serviceNamespaces, { namespace, name }, { ...options, uid: metadata.uid });
    return 'removed';
  } catch (error) {
    // 409: another one of that name stands there by now.
    if (isObjectNotFound(error) || isStatus(error, 409)) return 'absent';
    throw error;
  }
}
