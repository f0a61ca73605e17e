import { readFile } from 'node:fs/promises';
import { parseAllDocuments, stringify } from 'yaml';

import { fetchPublishedCrds } from '../../../scripts/published-crds.mjs';
import { isStatus } from '../../../src/kube/errors.js';
import type { KubeClient } from '../../../src/kube/client.js';
import { isJsonObject, type JsonObject } from '../../../src/kube/json-value.js';
import type { Gvr, KubeObject } from '../../../src/kube/object.js';
import { apply } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { featureCrds, webhookCrds } from './feature-crds.js';
import { overlaid, patched, type Step } from './wanted-fields.js';

export const CRDS: Gvr = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  resource: 'customresourcedefinitions',
};

/** One version of a CRD, as an API server has it. */
export type CrdVersion = JsonObject & {
  name: string;
  served: boolean;
  schema: { openAPIV3Schema: JsonObject };
  subresources?: JsonObject;
};

/** Spec of a CRD, as an API server has it. */
export type CrdSpec = JsonObject & {
  group: string;
  scope: 'Namespaced' | 'Cluster';
  names: { plural: string; kind: string };
  versions: CrdVersion[];
};

/** A CRD that is to be bound, and what its object must hold. */
export interface Case {
  /** Name of the CRD. */
  readonly name: string;
  /** What it shows: a feature, or the project that published it. */
  readonly shows: string;
  readonly published: boolean;
  readonly crd: KubeObject;
  /** Makes of the generated object the one that is used. */
  readonly adapt: (generated: JsonObject) => JsonObject;
}

/** All CRDs of the suite. The published ones are what their modules hold, to the last byte of their spec. */
export async function allCases(domain: string): Promise<Case[]> {
  const published = await fetchPublishedCrds();
  return [
    ...featureCrds(domain).map(({ feature, crd, object = {} }): Case => {
      const labelled = exported(crd);
      return {
        name: labelled.metadata.name,
        shows: feature,
        published: false,
        crd: labelled,
        adapt: (generated) => overlaid(generated, object) as JsonObject,
      };
    }),
    ...(await Promise.all(
      published.map(async ({ crd, module, version, path, patch = [] }): Promise<Case> => {
        const documents = parseAllDocuments(await readFile(path, 'utf8'), { intAsBigInt: true });
        const found = documents
          .map((each) => each.toJS() as unknown)
          .filter(isJsonObject)
          .find((each) => isJsonObject(each['metadata']) && each['metadata']['name'] === crd);
        if (found === undefined) throw new Error(`${path} has no CRD ${crd}`);
        return {
          name: crd,
          shows: `${module}@${version}`,
          published: true,
          crd: exported(found),
          adapt: (generated) => patched(generated, patch as readonly Step[]),
        };
      }),
    )),
  ];
}

/** CRDs that cannot be served as they are. */
export function hookedCases(domain: string): Pick<Case, 'name' | 'crd'>[] {
  return webhookCrds(domain).map((each) => {
    const crd = exported(each);
    return { name: crd.metadata.name, crd };
  });
}

/** With the label by which a backend knows what it may offer. */
function exported(crd: JsonObject): KubeObject {
  const labels = { 'kube-bind.io/exported': 'true' };
  return overlaid(crd, { metadata: { labels } }) as KubeObject;
}

/** Installs CRDs at a provider and waits until they are served; gives them as the server has them, by name. */
export async function installCrds(
  provider: KubeClient,
  cases: readonly Pick<Case, 'name' | 'crd'>[],
): Promise<Map<string, CrdSpec>> {
  await inParallel(cases, async ({ crd }) => {
    try {
      await provider.create(CRDS, crd);
    } catch (error) {
      // Left over from a run that was killed: it is the same, since it is published under that version.
      if (!isStatus(error, 409)) throw new Error(`${crd.metadata.name} is refused`, { cause: error });
    }
  });
  let waiting: string[] = [];
  return waitFor(
    async () => {
      const { items } = await provider.list(CRDS, { labelSelector: 'kube-bind.io/exported=true' });
      const served = new Map(
        items.filter(isEstablished).map((item) => [item.metadata.name, item['spec'] as CrdSpec]),
      );
      waiting = cases.map(({ name }) => name).filter((name) => !served.has(name));
      return waiting.length === 0 && served;
    },
    { what: 'all CRDs to be served', timeout: 60_000, interval: 500 },
  ).catch((error: unknown) => {
    throw new Error(`not served: ${waiting.join(', ')}`, { cause: error });
  });
}

function isEstablished({ status }: KubeObject): boolean {
  const conditions = isJsonObject(status) ? status['conditions'] : [];
  return (
    Array.isArray(conditions) &&
    conditions
      .filter(isJsonObject)
      .some(({ type, status: value }) => type === 'Established' && value === 'True')
  );
}

/** Offers CRDs as one template. */
export async function offer(kubeconfig: string, template: string, specs: readonly CrdSpec[]): Promise<void> {
  const [first] = specs;
  const manifest = {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceExportTemplate',
    metadata: { name: template },
    spec: {
      description: 'Kinds of the schema suites.',
      scope: first?.scope,
      resources: specs.map(({ group, names, versions }) => ({
        group,
        resource: names.plural,
        versions: versions.filter(({ served }) => served).map(({ name }) => name),
      })),
    },
  };
  await apply(kubeconfig, stringify(manifest));
}

/** Does something for each of many, eight at a time. */
export async function inParallel<T>(all: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  const queue = [...all];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let each = queue.shift(); each !== undefined; each = queue.shift()) await work(each);
    }),
  );
}
