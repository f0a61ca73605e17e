import type { ContractAccount } from '../../harness/contract-account.js';
import { kubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';

/** A version of a changing API, as far as it changes. */
export interface Version {
  readonly name: string;
  readonly storage?: boolean;
  /** JSON schemas by the name of the field below `spec`. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** A BoundSchema, as far as these suites change it. */
export interface BoundSchema {
  spec: {
    scope: string;
    names: { kind: string; listKind: string; plural: string };
    versions: {
      name: string;
      schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } };
    }[];
  };
}

/** An object of such an API, and its copy. */
export interface Part {
  metadata: {
    name: string;
    uid: string;
    resourceVersion: string;
    finalizers?: string[];
    annotations?: Record<string, string>;
  };
  spec: { size?: number; note?: string; colour?: string };
}

/** The fields that each API has at first. */
export const FIELDS = { size: { type: 'integer', format: 'int64' }, note: { type: 'string' } };

/** A CRD that the provider exports: one API for each way in which an API may change. */
export function crd(group: string, name: string, versions: readonly Version[] = [{ name: 'v1' }]): string {
  return JSON.stringify({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${name}s.${group}`, labels: { 'kube-bind.io/exported': 'true' } },
    spec: { group, scope: 'Namespaced', names: names(name), versions: versions.map(versionOf) },
  });
}

function names(name: string): Record<'kind' | 'listKind' | 'plural' | 'singular', string> {
  const kind = name.charAt(0).toUpperCase() + name.slice(1);
  return { kind, listKind: `${kind}List`, plural: `${name}s`, singular: name };
}

function versionOf({ name, storage = true, fields = FIELDS }: Version): unknown {
  const spec = { type: 'object', properties: fields };
  return {
    name,
    served: true,
    storage,
    subresources: { status: {} },
    schema: { openAPIV3Schema: { type: 'object', properties: { spec } } },
  };
}

/** The APIs of each binding, and the version of each that the binding asks for. */
export type Bindings = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Credentials, a connection `provider`, and the bindings, with the policy Always. */
export function bindings(account: ContractAccount, group: string, wanted: Bindings): string {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'account', namespace: 'default', labels: { 'kcp.kube-bind.io/credentials': 'true' } },
    stringData: { kubeconfig: account.kubeconfig },
  };
  const connection = {
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindConnection',
    metadata: { name: 'provider' },
    spec: { kubeconfigSecretRef: { namespace: 'default', name: 'account' } },
  };
  const each = Object.entries(wanted).map(([name, apis]) => ({
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindBinding',
    metadata: { name },
    spec: {
      connection: 'provider',
      resources: Object.entries(apis).map(([api, version]) => ({
        group,
        resource: `${api}s`,
        versions: [version],
      })),
    },
  }));
  return manifests([secret, connection, ...each]);
}

/** Objects, and texts of objects, as one stream of JSON. */
export function manifests(list: readonly unknown[]): string {
  return list.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join('\n');
}

/**
 * Changes a bound schema in a way that no CRD can change. A backend compares what it exports with the hash that it
 * noted, and so leaves this alone, and it tells consumers of it as of any change.
 */
export async function editBoundSchema(
  kubeconfig: string,
  target: { readonly name: string; readonly namespace: string },
  edit: (schema: BoundSchema) => void,
): Promise<void> {
  const change = async () => {
    const place = ['boundschema', target.name, '-n', target.namespace, '-o', 'json'];
    const schema = JSON.parse(await kubectl(kubeconfig, ['get', ...place])) as BoundSchema;
    edit(schema);
    await kubectl(kubeconfig, ['replace', '-f', '-'], { input: JSON.stringify(schema) });
    return true;
  };
  await waitFor(change, { what: `bound schema ${target.name} to be changed` });
}
