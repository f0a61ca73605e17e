import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { KUBE_BIND } from '../../../src/api/markers.js';
import type { KubeClient } from '../../../src/kube/client.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/kube/json-value.js';
import type { Gvr, KubeObject } from '../../../src/kube/object.js';
import { convertBoundSchema } from '../../../src/schema/convert.js';
import { objectFromSchema } from '../../generator/object-from-schema.js';
import { fillOf } from '../../generator/schema-leaves.js';
import { readBench } from '../../harness/bench.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import { bindWithPlugin, createConsumer, type Consumer } from '../../harness/consumer.js';
import { clientFor } from '../../harness/kube-client.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';
import {
  allCases,
  hookedCases,
  inParallel,
  installCrds,
  offer,
  type Case,
  type CrdSpec,
} from './catalogue.js';
import { bareEncoding, comparable, expectedSpec, publishedSchema, servable } from './served-schema.js';
import { differences } from './wanted-fields.js';

const DOMAIN = `${uniqueName('every')}.example.org`;
const cases = await allCases(DOMAIN);
const hooked = hookedCases(DOMAIN);
/** Names of bindings, and what is bound by each. An export may hold APIs of one scope only. */
const BINDINGS = ['namespaced', 'cluster', 'hooked'] as const;

const API_BINDINGS: Gvr = { group: 'apis.kcp.io', version: 'v1alpha2', resource: 'apibindings' };
const RESOURCE_SCHEMAS: Gvr = { group: 'apis.kcp.io', version: 'v1alpha1', resource: 'apiresourceschemas' };

/** In both directions: nothing is missing, and nothing is there besides. */
function expectSame(seen: JsonValue | undefined, wanted: JsonValue): void {
  expect(differences(wanted, seen, 'wanted')).toEqual([]);
  expect(differences(seen ?? null, wanted, 'seen')).toEqual([]);
}

/** What became of one object, from its creation to its status. */
interface Trip {
  readonly sent: KubeObject;
  readonly status: JsonObject | undefined;
  readonly object: KubeObject;
  readonly copy: KubeObject;
}

describe('a CRD', () => {
  const bench = readBench();
  const name = uniqueName('every');
  const { kubernetes } = bench;
  const trips = new Map<string, Promise<Trip>>();
  let installation: ClientInstallation;
  let consumer: Consumer;
  let controller: Controller | undefined;
  let workspace: KubeClient;
  let provider: KubeClient;
  let owner: KubeClient;
  let specs: Map<string, CrdSpec>;
  let bound: Map<string, string>;

  const templateOf = (binding: string) => `${name}-${binding}`;
  const seenCondition = (binding: string, type: string, reason: string) =>
    conditionWith(consumer.kubeconfig, 'kubebindbinding', binding, { type, reason, timeout: 180_000 });
  const isReady = (binding: string) => seenCondition(binding, 'Ready', 'Ready');

  /** Over the connection that the plugin has made. */
  const bindMore = (binding: string) =>
    apply(
      consumer.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindBinding',
        metadata: { name: binding },
        spec: { connection: 'provider', template: templateOf(binding) },
      }),
    );

  const specOf = ({ name: crd }: Pick<Case, 'name'>): CrdSpec => {
    const spec = specs.get(crd);
    if (spec === undefined) throw new Error(`no CRD ${crd}`);
    return spec;
  };

  beforeAll(async () => {
    [installation, consumer, provider] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      clientFor(kubernetes.kubeconfig),
    ]);
    [specs, controller, workspace, owner] = await Promise.all([
      installCrds(provider, [...cases, ...hooked]),
      startController({ installation, dir: `${bench.dir}/${name}` }),
      clientFor(consumer.kubeconfig),
      clientFor(installation.workspace.kubeconfig),
    ]);
    const offers: Record<(typeof BINDINGS)[number], CrdSpec[]> = {
      namespaced: cases.map(specOf).filter(({ scope }) => scope === 'Namespaced'),
      cluster: cases.map(specOf).filter(({ scope }) => scope === 'Cluster'),
      hooked: hooked.map(specOf),
    };
    for (const binding of BINDINGS) await offer(kubernetes.kubeconfig, templateOf(binding), offers[binding]);
    await bindWithPlugin(consumer, installation, {
      backendUrl: kubernetes.backendUrl,
      template: templateOf('namespaced'),
      args: ['--name=namespaced', '--connection=provider'],
    });
    for (const binding of ['cluster', 'hooked'] as const) await bindMore(binding);
    await isReady('cluster');
    await inParallel(cases, async (each) => {
      const trip = roundTrip(each);
      trips.set(each.name, trip);
      await trip.catch(() => undefined);
    });
    bound = await boundSchemas();
  });

  afterAll(async () => {
    await controller?.stop();
    const { kubeconfig } = kubernetes;
    const remove = (kind: string, names: readonly string[]) =>
      kubectl(kubeconfig, ['delete', kind, '--wait=false', '--ignore-not-found', ...names]);
    await remove('apiserviceexporttemplate', BINDINGS.map(templateOf));
    await remove(
      'crd',
      [...cases, ...hooked].map((each) => each.name),
    );
    await Promise.all([workspace, provider, owner].map((client) => client.close()));
  });

  /** Names of the APIResourceSchemas that the workspace is served, by CRD. */
  async function boundSchemas(): Promise<Map<string, string>> {
    const { items } = await workspace.list(API_BINDINGS);
    const resources = items
      .map(({ status }) => (isJsonObject(status) ? status['boundResources'] : undefined))
      .flatMap((list) => (Array.isArray(list) ? list : []))
      .filter(isJsonObject);
    return new Map(
      resources.map(({ resource, group, schema }) => [
        `${resource as string}.${group as string}`,
        (schema as JsonObject)['name'] as string,
      ]),
    );
  }

  const syncVersion = (spec: CrdSpec) => spec.versions.find(({ served }) => served) ?? spec.versions[0]!;

  const gvrOf = (spec: CrdSpec): Gvr => ({
    group: spec.group,
    version: syncVersion(spec).name,
    resource: spec.names.plural,
  });

  /** The generated object, without a status where the API has no subresource for one. */
  function objectFor(each: Case): { readonly schema: JsonObject; readonly object: JsonObject } {
    const spec = specOf(each);
    const { schema, subresources } = syncVersion(spec);
    const whole = schema.openAPIV3Schema;
    const properties = isJsonObject(whole['properties']) ? { ...whole['properties'] } : {};
    if (subresources?.['status'] === undefined) delete properties['status'];
    const used = { ...whole, properties };
    return { schema: used, object: each.adapt(objectFromSchema(used)) };
  }

  async function roundTrip(each: Case): Promise<Trip> {
    const spec = specOf(each);
    const gvr = gvrOf(spec);
    const namespaced = spec.scope === 'Namespaced';
    const { status, ...fields } = objectFor(each).object;
    const sent: KubeObject = {
      ...fields,
      apiVersion: `${gvr.group}/${gvr.version}`,
      kind: spec.names.kind,
      metadata: { name: 'whole', ...(namespaced ? { namespace: 'default' } : {}) },
    };
    const { uid } = (await workspace.create(gvr, sent)).metadata;
    const copyNow = async () =>
      (await provider.list(gvr)).items.find(
        ({ metadata }) => metadata.annotations?.[KUBE_BIND.consumerUid] === uid,
      );
    const made = await waitFor(copyNow, {
      what: `the copy of ${each.name}`,
      timeout: 120_000,
      interval: 300,
    });
    if (status !== undefined) await provider.replace(gvr, { ...made, status }, { subresource: 'status' });
    const where = { name: 'whole', ...(namespaced ? { namespace: 'default' } : {}) };
    const object = await waitFor(
      async () => {
        const now = await workspace.get(gvr, where);
        const [first] = status === undefined ? [] : differences(status, now['status']);
        if (first !== undefined) throw new Error(first);
        return now;
      },
      { what: `the status of ${each.name}`, timeout: 120_000, interval: 300 },
    );
    const copy = await copyNow();
    if (copy === undefined) throw new Error(`the copy of ${each.name} went away`);
    return { sent, status: isJsonObject(status) ? status : undefined, object, copy };
  }

  describe.each(cases.map((each) => [each.name, each.shows, each] as const))('%s (%s)', (_, _shows, each) => {
    it('is told to kcp without loss, whichever way the bound schema is encoded', async () => {
      const spec = specOf(each);
      const wanted = expectedSpec(spec);
      const name = bound.get(each.name) ?? 'unbound';
      const schema = await owner.get(RESOURCE_SCHEMAS, { name });
      expectSame(schema['spec'], wanted);
      for (const encoded of [spec, bareEncoding(spec)]) {
        const result = convertBoundSchema({ spec: encoded });
        if (!result.ok) throw new Error(result.message);
        expectSame({ nameValidation: 'DNS1123Subdomain', ...result.spec }, wanted);
      }
    });

    it('is served with the schema that the provider serves', async () => {
      const { group, names, versions } = specOf(each);
      for (const { name: version } of versions.filter(({ served }) => served)) {
        const which = { group, version, kind: names.kind };
        const [here, there] = await Promise.all([
          publishedSchema(workspace, which),
          publishedSchema(provider, which),
        ]);
        expect(there).toBeDefined();
        expectSame(comparable(here ?? null), servable(comparable(there ?? null)));
      }
    });

    it('carries an object that fills at least 80 % of its schema, both ways', async () => {
      const { schema, object } = objectFor(each);
      const fill = fillOf(schema, object);
      const trip = await trips.get(each.name);
      if (trip === undefined) throw new Error('no object was made');
      const sent: JsonObject = { ...trip.sent, metadata: undefined };
      expect(differences(sent, trip.object, 'object')).toEqual([]);
      expect(differences(sent, trip.copy, 'copy')).toEqual([]);
      if (trip.status !== undefined) {
        expect(differences(trip.status, trip.copy['status'], 'status of the copy')).toEqual([]);
        expect(differences(trip.status, trip.object['status'], 'status')).toEqual([]);
      }
      if (fill.filled < fill.leaves * 0.8) expect(fill.missing).toEqual([]);
    });
  });

  it('that can only be served in part says so, with version and path', async () => {
    const { message } = await seenCondition('namespaced', 'SchemaInSync', 'InSync');
    expect(message).toContain('services.serving.knative.dev: spec.versions[v1].schema.properties.spec');
    expect(message).toContain(
      `maptypes.features.${DOMAIN}: spec.versions[v1].schema.properties.spec.properties.free`,
    );
  });

  it('whose versions are converted by a webhook is refused, and holds back none that is bound with it', async () => {
    const { status, message } = await seenCondition('hooked', 'SchemaInSync', 'Unsupported');
    expect(status).toBe('False');
    expect(message).toContain(`convertibles.hooks.${DOMAIN} (spec.conversion.strategy): versions v2, v1`);
    expect(message).toContain(
      `singles.hooks.${DOMAIN}: the provider's conversion webhook is not used: version v2`,
    );
    const served = (kind: string) =>
      waitFor(() => kubectl(consumer.kubeconfig, ['get', `${kind}.hooks.${DOMAIN}`]), {
        what: `${kind} to be served`,
      });
    await Promise.all(['neighbours', 'singles'].map(served));
    const { code } = await runKubectl(consumer.kubeconfig, ['get', `convertibles.hooks.${DOMAIN}`]);
    expect(code).not.toBe(0);
  });

  it('has the same table, names and categories on both sides', async () => {
    const tables = async (kubeconfig: string, namespace: string) =>
      Promise.all(
        ['clm', 'pillar', `columns.features.${DOMAIN}`].map((kind) =>
          kubectl(kubeconfig, ['get', kind, '-n', namespace, '-o', 'wide']),
        ),
      );
    const trip = await trips.get(`columns.features.${DOMAIN}`);
    const [here, there] = await Promise.all([
      tables(consumer.kubeconfig, 'default'),
      tables(kubernetes.kubeconfig, trip?.copy.metadata.namespace ?? ''),
    ]);
    // What differs by nature is how long ago each was made.
    const rows = (table: string) =>
      table
        .trim()
        .split('\n')
        .map((line) => line.trim().split(/\s+/).slice(0, -1));
    expect(here[0]?.split('\n')[0]?.trim().split(/\s+/)).toEqual([
      ...['NAME', 'SIZE', 'VALUE', 'RATIO', 'READY', 'PHASE', 'SINCE'],
    ]);
    expect(here.map(rows)).toEqual(there.map(rows));
    expect(rows(here[0] ?? '')[1]).toEqual(['whole', '1', 'text-0', '1.5', 'true', 'text-0']);
    expect(await kubectl(consumer.kubeconfig, ['get', 'architecture', '-o', 'name'])).toContain('whole');
  });

  it('is scaled through its subresource', async () => {
    const kind = `scales.features.${DOMAIN}`;
    await kubectl(consumer.kubeconfig, ['scale', `${kind}/whole`, '--replicas=7']);
    const trip = await trips.get(kind);
    const namespace = trip?.copy.metadata.namespace ?? '';
    await waitFor(
      async () =>
        (await kubectl(kubernetes.kubeconfig, [
          'get',
          kind,
          'whole',
          '-n',
          namespace,
          '-o',
          'jsonpath={.spec.replicas}',
        ])) === '7',
      { what: 'the copy to be scaled', interval: 300 },
    );
  });

  it('that is deprecated warns in the same words', async () => {
    const args = ['get', `evolutions.v1beta1.features.${DOMAIN}`, '-A'];
    const { stderr } = await runKubectl(consumer.kubeconfig, args);
    expect(stderr).toContain('evolutions v1beta1 goes away; use v1');
  });

  it('of many kilobytes is copied into no annotation', async () => {
    const { metadata } = await owner.get(RESOURCE_SCHEMAS, {
      name: bound.get(`giants.features.${DOMAIN}`) ?? '',
    });
    expect(Buffer.byteLength(JSON.stringify(metadata.annotations ?? {}))).toBeLessThan(2000);
  });

  it('in a group of the Kubernetes community is served as a copy that nobody approved', async () => {
    const { name: guarded } = cases.find(({ shows }) => shows === 'guards') ?? cases[0]!;
    const { metadata } = await owner.get(RESOURCE_SCHEMAS, { name: bound.get(guarded) ?? '' });
    expect(metadata.annotations?.['api-approved.kubernetes.io']).toMatch(/^unapproved/);
  });

  it('is taken from each of twenty-five projects and more', () => {
    const projects = new Set(cases.filter(({ published }) => published).map(({ shows }) => shows));
    expect(projects.size).toBeGreaterThanOrEqual(25);
    expect(cases.length).toBeGreaterThanOrEqual(40);
  });
});
