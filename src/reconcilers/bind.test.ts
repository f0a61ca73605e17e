import { afterEach, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { BINDINGS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import { BINDING_UID_LABEL } from '../api/markers.js';
import type { KubeObject } from '../kube/object.js';
import { generatedNames } from './binding/owner.js';
import { at, objectsAt, textAt } from './views.js';
import type { ResourceSchemaSpec } from '../schema/resource-schema.js';
import { CLIENT_CLUSTER, NAMESPACE } from './testing/fake-kcp.js';
import type { FakeWorld } from './testing/fake-world.js';
import { ALL_CLAIMS, converted, widgetSpec, WORKSPACE } from './testing/fake-world.js';
import { Scenario } from './testing/scenario.js';

const WITHOUT_BINDING_CLAIM = ALL_CLAIMS.filter((claim) => claim !== 'apibindings');
const SECRETS = { group: '', resource: 'secrets', selector: 'all' };
let scenario: Scenario;

function begin(claims?: readonly string[]): FakeWorld {
  scenario = new Scenario(claims);
  return scenario.world;
}

afterEach(() => scenario.close());

describe('binding an API', () => {
  it('serves it, syncs it with a token of its own account and says Ready', async () => {
    const world = begin();
    const { pool } = await scenario.bind();
    expect(scenario.phase()).toBe('Ready');
    expect(pool.assigned.get(scenario.poolKey())).toMatchObject({
      stage: 'sync',
      consumer: { credentials: { auth: { kind: 'tokens' } } },
      heartbeat: { secretNamespace: NAMESPACE },
    });
    expect(at(world.binding('b'), 'status', 'apis')).toMatchObject([{ resource: 'widgets', kind: 'Widget' }]);
  });

  it('changes nothing when another process takes over', async () => {
    begin();
    await scenario.bind();
    const next = await scenario.restart();
    expect(scenario.phase()).toBe('Ready');
    expect(
      next.steps.filter((step) => step !== 'binding.worker.assign' && step !== 'binding.token.request'),
    ).toEqual([]);
  });

  it('makes no second identity for an export that has used one', async () => {
    const world = begin();
    await scenario.bind();
    const name = `${scenario.generatedBinding()?.metadata.name ?? ''}-identity`;
    world.kcp.objects.delete(GVR.secrets, CLIENT_CLUSTER, name, { namespace: NAMESPACE });
    await scenario.restart();
    await world.run(2 * 3_600_000);
    expect(world.kcp.objects.find(GVR.secrets, CLIENT_CLUSTER, name, NAMESPACE)).toBeUndefined();
  });

  it('brings an export back that an admin deleted, with the same identity', async () => {
    const world = begin();
    await scenario.bind();
    const name = textAt(world.binding('b'), 'status', 'apiExport', 'name') ?? '';
    const before = world.kcp.objects.get(GVR.apiExports, CLIENT_CLUSTER, name);
    world.kcp.objects.delete(GVR.apiExports, CLIENT_CLUSTER, name);
    await world.run();
    const after = world.kcp.objects.get(GVR.apiExports, CLIENT_CLUSTER, name);
    expect(after['status']).toEqual(before['status']);
    expect(scenario.phase()).toBe('Ready');
  });

  it('brings the export back although no provider answers after a restart', async () => {
    const world = begin();
    await scenario.bind();
    await scenario.close();
    const name = textAt(world.binding('b'), 'status', 'apiExport', 'name') ?? '';
    world.kcp.objects.delete(GVR.apiExports, CLIENT_CLUSTER, name);
    world.worker = () => ({});
    scenario.start();
    await world.run();
    expect(world.kcp.objects.find(GVR.apiExports, CLIENT_CLUSTER, name)).toBeDefined();
  });

  it('shows a name conflict and recovers by itself', async () => {
    const world = begin();
    world.kcp.conflicts.set(WORKSPACE, 'widgets.example.test is bound by other');
    await scenario.bind();
    expect(scenario.reason('APIBound')).toBe('NameConflict');
    world.kcp.conflicts.clear();
    world.kcp.objects.edit(GVR.apiBindings, WORKSPACE, 'kube-bind', (object) => ({
      ...object,
      spec: { ...(object['spec'] as object), touched: true },
    }));
    await world.run();
    expect(scenario.phase()).toBe('Ready');
  });

  it('shows what kcp says about a schema, and asks again only when it has changed', async () => {
    const world = begin();
    world.kcp.refuseSchemas = { message: 'spec.versions[0]: not structural' };
    const process = await scenario.bind();
    expect(scenario.condition('SchemaInSync')).toMatchObject({ status: 'False', reason: 'Rejected' });
    expect(textAt(scenario.condition('SchemaInSync'), 'message')).toContain('not structural');
    expect(process.steps.filter((step) => step === 'binding.schema.create')).toHaveLength(1);
    world.kcp.refuseSchemas = undefined;
    world.schemas = [converted(widgetSpec({ color: { type: 'string' } }))];
    process.pool.say(scenario.poolKey());
    await world.run();
    expect(scenario.phase()).toBe('Ready');
  });

  it('serves the other APIs of the binding while kcp refuses some, and names those', async () => {
    const world = begin();
    const named = (plural: string): ResourceSchemaSpec => ({
      ...widgetSpec(),
      names: { plural, singular: plural.slice(0, -1), kind: plural, listKind: `${plural}List` },
    });
    world.kcp.refuseSchemas = { message: 'a rule does not compile', of: 'gadget' };
    world.schemas = ['widgets', 'gadgets', 'minigadgets'].map((plural) => converted(named(plural)));
    await scenario.bind();
    await world.run(60_000);
    expect(scenario.condition('SchemaInSync')).toMatchObject({ status: 'False', reason: 'Rejected' });
    const message = textAt(scenario.condition('SchemaInSync'), 'message');
    expect(message).toContain('gadgets.example.test: a rule does not compile');
    expect(message).toContain('minigadgets.example.test: a rule');
    expect(at(world.binding('b'), 'status', 'apis')).toMatchObject([{ resource: 'widgets' }]);
    expect(scenario.reason('APIBound')).toBe('Bound');
    expect(world.kcp.schemasSent).toBe(3);

    world.kcp.refuseSchemas = undefined;
    await world.run(11 * 60_000);
    expect(scenario.phase()).toBe('Ready');
    expect(at(world.binding('b'), 'status', 'apis')).toHaveLength(3);
  });

  it.each([
    [
      'a large schema',
      1_100_000,
      'Rejected',
      /kcp refuses the schema of widgets.example.test: it has 1\d{3} KiB/,
    ],
    ['a small schema', 10, 'Pending', /boom/],
  ])('takes a 500 for %s for what it is likely to be', async (_, bytes, reason, said) => {
    const world = begin();
    world.kcp.refuseSchemas = { message: 'boom', status: 500 };
    world.schemas = [converted(widgetSpec({ note: { type: 'string', description: 'x'.repeat(bytes) } }))];
    await scenario.bind();
    const before = world.kcp.schemasSent;
    await world.run(9 * 60_000);
    expect(scenario.reason('SchemaInSync')).toBe(reason);
    expect(textAt(scenario.condition('SchemaInSync'), 'message')).toMatch(said);
    if (reason === 'Rejected') expect(world.kcp.schemasSent).toBe(before);
  });

  it('drops no version that kcp may hold objects in while the APIBinding cannot be seen', async () => {
    const world = begin(WITHOUT_BINDING_CLAIM);
    const process = await scenario.bind();
    const message = textAt(scenario.condition('APIBound'), 'message') ?? '';
    const manifest = parse(message.slice(message.indexOf('apiVersion:'))) as KubeObject;
    world.kcp.objects.create(GVR.apiBindings, WORKSPACE, manifest);
    await world.run();
    expect(scenario.phase()).toBe('Ready');
    const versions = () => {
      const name = textAt(world.binding('b'), 'status', 'apiExport', 'name') ?? '';
      const served = world.kcp.objects.get(GVR.apiExports, CLIENT_CLUSTER, name);
      const schema = textAt(objectsAt(served, 'spec', 'resources')[0], 'schema') ?? '';
      const object = world.kcp.objects.get(GVR.apiResourceSchemas, CLIENT_CLUSTER, schema);
      return objectsAt(object, 'spec', 'versions').map((each) => each['name']);
    };
    expect(versions()).toEqual(['v1']);

    world.kcp.silent = true;
    await world.run(60_000);
    const spec = widgetSpec();
    world.schemas = [
      converted({ ...spec, versions: spec.versions.map((each) => ({ ...each, name: 'v2' })) }),
    ];
    process.pool.say(scenario.poolKey());
    await world.run(120_000);
    expect(versions()).toEqual(['v1']);
    world.kcp.silent = false;
    await world.run(600_000);
    expect(versions()).toEqual(['v2', 'v1']);
    expect(scenario.reason('SchemaInSync')).toBe('VersionKept');
  });

  it('makes nothing in a workspace that is being deleted', async () => {
    const world = begin();
    world.kcp.objects.delete(GVR.logicalClusters, WORKSPACE, 'cluster');
    const process = await scenario.bind();
    expect(process.steps).toEqual([]);
    expect(scenario.generatedBinding()).toBeUndefined();
  });

  it('leaves an APIBinding alone that has its name and refers elsewhere', async () => {
    const world = begin();
    const uid = world.createBinding('b', { connection: 'c', template: 'widgets' }).metadata.uid ?? '';
    const { apiBinding: name } = generatedNames({ cluster: WORKSPACE, name: 'b', uid });
    const foreign = world.kcp.objects.create(GVR.apiBindings, WORKSPACE, {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIBinding',
      metadata: { name },
      spec: { reference: { export: { path: 'root:elsewhere', name } } },
    });
    scenario.start();
    await world.run();
    expect(scenario.reason('APIBound')).toBe('ForeignAPIBinding');
    expect(world.kcp.objects.get(GVR.apiBindings, WORKSPACE, name)['spec']).toEqual(foreign['spec']);
    world.kcp.objects.delete(GVR.apiBindings, WORKSPACE, name);
    await world.run();
    expect(scenario.phase()).toBe('Ready');
  });

  it('writes to no other APIBinding of the workspace', async () => {
    const world = begin();
    const own = new Set<string>();
    world.kcp.objects.create(GVR.apiBindings, WORKSPACE, {
      apiVersion: 'apis.kcp.io/v1alpha2',
      kind: 'APIBinding',
      metadata: { name: 'other', labels: { 'kcp.kube-bind.io/component': 'generated-binding' } },
      spec: { reference: { export: { path: 'root:kube-bind', name: 'kbb-of-somebody-else' } } },
    });
    const versions = () =>
      scenario
        .apiBindings()
        .filter(({ metadata }) => !own.has(metadata.name))
        .map(({ metadata }) => [metadata.name, metadata.resourceVersion]);
    const before = versions();
    await scenario.bind();
    const made = scenario
      .apiBindings()
      .find(({ metadata }) => metadata.labels?.[BINDING_UID_LABEL] !== undefined);
    own.add(made?.metadata.name ?? '');
    expect(scenario.phase()).toBe('Ready');
    expect(versions()).toEqual(before);
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expect(versions()).toEqual(before);
  });
});

describe('a schema that the provider changes', () => {
  const names = (world: FakeWorld) =>
    world.kcp.objects.list(GVR.apiResourceSchemas, CLIENT_CLUSTER).map(({ metadata }) => metadata.name);

  it('is followed in place when kcp can take it, and the old one goes', async () => {
    const world = begin();
    const { pool } = await scenario.bind();
    const [before] = names(world);
    world.schemas = [converted(widgetSpec({ color: { type: 'string' } }))];
    pool.say(scenario.poolKey());
    await world.run();
    const after = names(world);
    expect(after).toHaveLength(1);
    expect(after[0]).not.toBe(before);
    expect(
      textAt(objectsAt(scenario.generatedBinding(), 'status', 'boundResources')[0], 'schema', 'name'),
    ).toBe(after[0]);
    expect(scenario.phase()).toBe('Ready');
  });

  it('changes nothing when kcp cannot, and sync goes on', async () => {
    const world = begin();
    const { pool } = await scenario.bind();
    const before = names(world);
    world.schemas = [converted({ ...widgetSpec(), scope: 'Cluster' })];
    pool.say(scenario.poolKey());
    await world.run();
    expect(names(world)).toEqual(before);
    expect(scenario.reason('SchemaInSync')).toBe('Incompatible');
    expect(textAt(scenario.condition('SchemaInSync'), 'message')).toContain('scope');
    expect(pool.assigned.get(scenario.poolKey())?.stage).toBe('sync');
    expect(scenario.phase()).toBe('Degraded');
  });

  it('still makes an export that somebody deletes, and puts one right that serves something else', async () => {
    const world = begin();
    const { pool } = await scenario.bind();
    const before = names(world);
    world.schemas = [converted({ ...widgetSpec(), scope: 'Cluster' })];
    pool.say(scenario.poolKey());
    await world.run();
    const name = textAt(world.binding('b'), 'status', 'apiExport', 'name') ?? '';
    const served = () =>
      objectsAt(world.kcp.objects.find(GVR.apiExports, CLIENT_CLUSTER, name), 'spec', 'resources').map(
        ({ schema }) => schema,
      );
    world.kcp.objects.delete(GVR.apiExports, CLIENT_CLUSTER, name);
    await world.run();
    expect(served()).toEqual(before);
    world.kcp.objects.edit(GVR.apiExports, CLIENT_CLUSTER, name, (object) => ({
      ...object,
      spec: {
        ...(object['spec'] as object),
        resources: [{ group: 'example.test', name: 'widgets', schema: 'somebody.widgets.example.test' }],
      },
    }));
    await world.run();
    expect(served()).toEqual(before);
    expect(scenario.reason('SchemaInSync')).toBe('Incompatible');
  });
});

describe('an account that leads elsewhere', () => {
  it('takes the work from the worker that runs with the former one, until the former one is back', async () => {
    const world = begin();
    const { pool } = await scenario.bind();
    const uid = world.connection('c')?.metadata.uid;
    const [state] = [...world.disk.states.values()].filter(({ value }) => value.connection.uid === uid);
    if (state?.value.account === undefined) throw new Error('no account');
    const before = state.value;
    const other = { ...state.value.account, contractNamespaceUid: 'another' };
    world.disk.put({ ...before, account: other });
    await world.run();
    expect(scenario.reason('Connected')).toBe('ProviderChanged');
    expect(pool.assigned.get(scenario.poolKey())).toMatchObject({
      stage: 'prepare',
      provider: { credentials: { server: 'https://provider.invalid', auth: { kind: 'none' } } },
    });
    world.disk.put(before);
    await world.run();
    expect(pool.assigned.get(scenario.poolKey())).toMatchObject({
      stage: 'sync',
      provider: { credentials: before.account?.credentials },
    });
  });
});

describe('consent to related resources', () => {
  const accepted = () =>
    objectsAt(scenario.generatedBinding(), 'spec', 'permissionClaims')
      .filter((claim) => claim['state'] === 'Accepted')
      .map((claim) => textAt(claim, 'resource'));
  const withClaims = (world: FakeWorld): void => {
    world.worker = (assignment) => ({ ...world.goodWorker(assignment), claims: [SECRETS] });
  };
  const consenting = { permissionClaims: [{ group: '', resource: 'secrets', state: 'Accepted' }] };

  it('is given only when binding and workspace agree', async () => {
    const world = begin();
    withClaims(world);
    const { pool } = await scenario.bind(consenting);
    expect(accepted()).toEqual(['apibindings', 'namespaces', 'secrets']);
    expect(pool.assigned.get(scenario.poolKey())?.claims).toEqual([{ group: '', resource: 'secrets' }]);
    expect(scenario.reason('PermissionClaimsAccepted')).toBe('Accepted');
  });

  it('is not given when the workspace has not accepted the claim', async () => {
    const world = begin(ALL_CLAIMS.filter((claim) => claim !== 'secrets'));
    withClaims(world);
    await scenario.bind(consenting);
    expect(accepted()).toEqual(['apibindings']);
    expect(scenario.reason('PermissionClaimsAccepted')).toBe('NotAccepted');
    expect(scenario.phase()).toBe('Ready');
  });

  it('is not given when the binding does not list the claim', async () => {
    const world = begin();
    withClaims(world);
    await scenario.bind();
    expect(accepted()).toEqual(['apibindings']);
  });

  it('ends when either side withdraws it, also without a word from the provider', async () => {
    const world = begin();
    withClaims(world);
    await scenario.bind(consenting);
    await scenario.close();
    world.worker = () => ({});
    const { pool } = scenario.start();
    world.kcp.accept(
      WORKSPACE,
      ALL_CLAIMS.filter((claim) => claim !== 'secrets'),
    );
    await world.run();
    expect(accepted()).toEqual(['apibindings']);
    expect(pool.assigned.get(scenario.poolKey())?.claims).toEqual([]);
  });
});

describe('a workspace without the claim on apibindings', () => {
  async function waiting(): Promise<{ world: FakeWorld; manifest: KubeObject }> {
    const world = begin(WITHOUT_BINDING_CLAIM);
    await scenario.bind();
    const message = textAt(scenario.condition('APIBound'), 'message') ?? '';
    const manifest = parse(message.slice(message.indexOf('apiVersion:'))) as KubeObject;
    return { world, manifest };
  }

  it('is told what to bind, and may', async () => {
    const { world, manifest } = await waiting();
    expect(scenario.reason('APIBound')).toBe('ClaimMissing');
    expect(scenario.generatedBinding()).toBeUndefined();
    expect(world.generatedObjects()).toContain(`clusterroles/${manifest.metadata.name}-bind`);
  });

  it('is served once the user has bound the export', async () => {
    const { world, manifest } = await waiting();
    world.kcp.objects.create(GVR.apiBindings, WORKSPACE, manifest);
    await world.run();
    expect(scenario.phase()).toBe('Ready');
  });

  it('is served under any name of the APIBinding, which is then never touched', async () => {
    const { world, manifest } = await waiting();
    const metadata = { name: 'my-own' };
    world.kcp.objects.create(GVR.apiBindings, WORKSPACE, { ...manifest, metadata });
    await world.run();
    expect(scenario.phase()).toBe('Ready');
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expect(scenario.reason('APIBound')).toBe('ForeignAPIBinding');
    expect(scenario.generatedBinding()?.metadata.deletionTimestamp).toBeUndefined();
    world.kcp.objects.delete(GVR.apiBindings, WORKSPACE, 'my-own');
    await world.run(40_000);
    expect(world.binding('b')).toBeUndefined();
    expect(world.generatedObjects()).toEqual([]);
  });

  it('goes over to binding by the controller when the claim is accepted', async () => {
    const { world } = await waiting();
    world.kcp.accept(WORKSPACE, ALL_CLAIMS);
    await world.run();
    expect(scenario.phase()).toBe('Ready');
    expect(world.generatedObjects().filter((name) => name.endsWith('-bind'))).toEqual([]);
  });
});
