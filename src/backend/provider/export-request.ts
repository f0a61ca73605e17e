import { GVR } from '../../api/gvr.js';
import { COMPONENT_LABEL } from '../../api/markers.js';
import { untrustedText } from '../../api/untrusted-text.js';
import type { RequestOptions } from '../../kube/client.js';
import { isObjectNotFound, isStatus } from '../../kube/errors.js';
import { isJsonObject, type JsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import type { ProviderContract } from './contract.js';

/** Value of the component label on export requests that we made. */
const REQUEST_COMPONENT = 'export-request';

/** What to ask for. The same shape as in an assignment. */
export interface ExportPlan {
  /** Name of request and export. */
  readonly name: string;
  /** Absent: the export, or a request for it, must exist already. */
  readonly create?: {
    readonly resources: readonly {
      readonly group: string;
      readonly resource: string;
      readonly versions: readonly string[];
    }[];
    readonly permissionClaims: readonly Readonly<Record<string, unknown>>[];
    readonly namespaces: readonly string[];
    readonly schemaUpdatePolicy: 'Never' | 'Always';
  };
}

/** The APIServiceExportRequest of a plan, marked as ours. */
export function exportRequest(
  namespace: string,
  name: string,
  create: NonNullable<ExportPlan['create']>,
): KubeObject {
  const claims = create.permissionClaims.filter(isJsonObject);
  const resources = create.resources.map(({ group, resource, versions }) => ({
    group,
    resource,
    versions: [...versions],
  }));
  const spec: JsonObject = {
    resources,
    ...(claims.length === 0 ? {} : { permissionClaims: claims }),
    ...(create.namespaces.length === 0
      ? {}
      : { namespaces: create.namespaces.map((one) => ({ name: one })) }),
    schemaUpdatePolicy: create.schemaUpdatePolicy,
  };
  return {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceExportRequest',
    metadata: { name, namespace, labels: { [COMPONENT_LABEL]: REQUEST_COMPONENT } },
    spec,
  };
}

/** How far a request is. Conditions are often missing: the backend only stores them together with a phase. */
export type RequestState =
  | { readonly phase: 'Pending' | 'Succeeded' }
  /** `message` may be empty. */
  | { readonly phase: 'Failed'; readonly message: string };

export function requestState(request: KubeObject): RequestState {
  const status = isJsonObject(request['status']) ? request['status'] : {};
  if (status['phase'] === 'Succeeded') return { phase: 'Succeeded' };
  if (status['phase'] !== 'Failed') return { phase: 'Pending' };
  const conditions = Array.isArray(status['conditions']) ? status['conditions'].slice(0, 32) : [];
  const texts = conditions
    .filter(isJsonObject)
    .filter((condition) => condition['status'] === 'False' && condition['type'] !== 'Ready')
    .map((condition) => untrustedText(condition['message'], 200));
  const message = [untrustedText(status['terminalMessage'], 200), ...texts].filter((text) => text !== '');
  return { phase: 'Failed', message: message.slice(0, 3).join('; ') };
}

/** The request of this name; undefined when there is none. */
export async function readExportRequest(
  { client, namespace }: ProviderContract,
  name: string,
  options?: RequestOptions,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(GVR.exportRequests, { namespace, name }, options);
  } catch (error) {
    if (isObjectNotFound(error)) return undefined;
    throw error;
  }
}

/** `foreign`: somebody else made it, and it stays. */
export type Removal = 'removed' | 'absent' | 'foreign';

/** Deletes the request of this name if we made it. The export that came of it stays: no account may delete it. */
export async function removeExportRequest(
  contract: ProviderContract,
  name: string,
  options: RequestOptions = {},
): Promise<Removal> {
  const request = await readExportRequest(contract, name, options);
  if (request === undefined) return 'absent';
  if (request.metadata.labels?.[COMPONENT_LABEL] !== REQUEST_COMPONENT) return 'foreign';
  const { namespace, client } = contract;
  try {
    await client.delete(GVR.exportRequests, { namespace, name }, { ...options, uid: request.metadata.uid });
  } catch (error) {
    // 409: another one of that name stands there by now, which is not ours to judge.
    if (isObjectNotFound(error) || isStatus(error, 409)) return 'absent';
    throw error;
  }
  return 'removed';
}
