import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { KUBE_BIND, SYNCER_FINALIZER } from '../../../src/api/markers.js';
import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith, readCondition, type SeenCondition } from '../../harness/conditions.js';
import { createConsumer, type Consumer } from '../../harness/consumer.js';
import { createContractAccount, type ContractAccount } from '../../harness/contract-account.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { waitFor } from '../../harness/wait-for.js';
import { deleteWorkspace, uniqueName } from '../../harness/workspaces.js';
import {
  bindings,
  crd,
  editBoundSchema,
  FIELDS,
  manifests,
  type Bindings,
  type Part,
} from './changing-apis.js';
import { FOREIGN, REFUSED, type ResourceSchema } from './incompatible-changes.js';

interface ApiExport {
  spec: { resources: { name: string; schema: string }[] };
}

/**
 * What each workspace binds: bindings with their APIs, each in the version that it asks for. Few bindings, since each
 * one costs a kcp seconds; what is refused is bound together, so that none hides another one.
 */
const DYING: Bindings = {
  refused: { retyped: 'v1', rescoped: 'v1', replaced: 'v1' },
  accepted: { revised: 'v1beta1' },
};
const LEAVING: Bindings = {
  refused: { retyped: 'v1', reduced: 'v1', rescoped: 'v1', rekinded: 'v1', replaced: 'v1', beside: 'v1' },
  renamed: { renamed: 'v1' },
  accepted: { revised: 'v1beta1', extended: 'v1' },
  withdrawn: { withdrawn: 'v1' },
};
const APIS = Object.values(LEAVING).flatMap((apis) => Object.keys(apis));

interface Named {
  readonly api: string;
  readonly name: string;
  readonly spec: Part['spec'];
}

interface Tenant extends Consumer {
  readonly account: ContractAccount;
  readonly bindings: readonly string[];
  /** The binding of each API. */
  readonly apis: ReadonlyMap<string, string>;
}

/**
 * Each change in an API of its own, so that all of them happen at once; in two workspaces, one of which unbinds
 * afterwards while the other one is deleted.
 */
describe('an API that its provider changes', () => {
  const bench = readBench();
  const provider = bench.kubernetes.kubeconfig;
  const dir = `${bench.dir}/${uniqueName('changes')}`;
  const group = `${uniqueName('changes')}.example.test`;
  const full = (api: string) => `${api}s.${group}`;
  let installation: ClientInstallation;
  let controller: Controller | undefined;
  let leaving: Tenant;
  let dying: Tenant;
  /** The object `first` of each API and workspace, as it was before the changes. */
  const before = new Map<string, Part>();

  async function createTenant(user: 'alice' | 'bob', wanted: Bindings): Promise<Tenant> {
    const identity = uniqueName(user);
    const [consumer, account] = await Promise.all([
      createConsumer(user),
      // A backend that makes two of them at once may fail with 500.
      waitFor(() => createContractAccount(identity, bench.kubernetes), {
        what: `an account for ${user}`,
        interval: 1000,
      }),
    ]);
    await bindClient(consumer.kubeconfig, installation);
    await apply(consumer.kubeconfig, bindings(account, group, wanted));
    const apis = Object.entries(wanted).flatMap(([binding, each]) =>
      Object.keys(each).map((api) => [api, binding] as const),
    );
    return { ...consumer, account, bindings: Object.keys(wanted), apis: new Map(apis) };
  }
  const bindingOf = ({ apis }: Tenant, api: string) => apis.get(api) ?? api;
  const condition = (tenant: Tenant, api: string, type: string, reason: string): Promise<SeenCondition> =>
    conditionWith(tenant.kubeconfig, 'kubebindbinding', bindingOf(tenant, api), { type, reason });
  const read = async (kubeconfig: string, args: readonly string[]): Promise<unknown> =>
    JSON.parse(await kubectl(kubeconfig, ['get', ...args, '-o', 'json']));
  const part = async (tenant: Tenant, api: string, name: string) =>
    (await read(tenant.kubeconfig, [full(api), name, '-n', 'default'])) as Part;
  const write = (tenant: Tenant, api: string, name: string, spec: Part['spec']) =>
    writeAs('v1', tenant, { api, name, spec });
  const writeAs = (version: string, tenant: Tenant, of: Named) =>
    apply(tenant.kubeconfig, manifest(version, of));
  const manifest = (version: string, { api, name, spec }: Named) =>
    JSON.stringify({
      apiVersion: `${group}/${version}`,
      kind: api.charAt(0).toUpperCase() + api.slice(1),
      metadata: { name, namespace: 'default' },
      spec,
    });
  const copies = async (tenant: Tenant, api: string) => {
    const { items } = (await read(provider, [full(api), '-A'])) as { items: Part[] };
    const ours = ({ metadata: { annotations } }: Part) =>
      annotations?.[KUBE_BIND.clusterNamespace] === tenant.account.namespace;
    return items.filter(ours);
  };
  const copyOf = async (tenant: Tenant, api: string, { metadata: { uid } }: Part) =>
    (await copies(tenant, api)).find(({ metadata }) => metadata.annotations?.[KUBE_BIND.consumerUid] === uid);
  /** Waits for the copy of an object to have these fields. */
  const synced = (tenant: Tenant, api: string, name: string, spec: Part['spec']) =>
    waitFor(
      async () => {
        const object = await part(tenant, api, name);
        if (object.metadata.finalizers?.includes(SYNCER_FINALIZER) !== true) return false;
        const copy = await copyOf(tenant, api, object);
        return (
          Object.entries(spec).every(([field, value]) => copy?.spec[field as 'note'] === value) && object
        );
      },
      { what: `${api} ${name} of ${tenant.workspace.path} to be synced`, interval: 500 },
    );
  const served = async (tenant: Tenant, api: string) => {
    const { items } = (await read(tenant.kubeconfig, ['apibindings'])) as {
      items: { status?: { boundResources?: { resource: string; schema: { name: string } }[] } }[];
    };
    const resources = items.flatMap(({ status }) => status?.boundResources ?? []);
    return resources.find(({ resource }) => resource === `${api}s`)?.schema.name;
  };
  const unchanged = async (tenant: Tenant, api: string) => {
    const was = before.get(`${tenant.user} ${api}`);
    const is = await part(tenant, api, 'first');
    expect(is.metadata.uid).toBe(was?.metadata.uid);
    expect(is.metadata.resourceVersion).toBe(was?.metadata.resourceVersion);
    expect(is.spec).toEqual(was?.spec);
    expect(await copyOf(tenant, api, is)).toBeDefined();
  };
  const eachTenant = (of: (tenant: Tenant) => Promise<unknown>) => Promise.all([leaving, dying].map(of));
  const eachWith = (api: string, of: (tenant: Tenant) => Promise<unknown>) =>
    eachTenant(async (tenant) => (tenant.apis.has(api) ? of(tenant) : undefined));

  beforeAll(async () => {
    const crds = APIS.filter((api) => api !== 'revised').map((api) => crd(group, api));
    await apply(provider, manifests([...crds, crd(group, 'revised', [{ name: 'v1beta1' }])]));
    installation = await installClient(bench.consumers, uniqueName('kube-bind'));
    controller = await startController({ installation, dir, args: ['--max-workers=4'] });
    [leaving, dying] = await Promise.all([createTenant('alice', LEAVING), createTenant('bob', DYING)]);
    await eachTenant(async (tenant) => {
      const ready = [
        'kubebindbindings',
        '-o',
        "jsonpath={.items[*].status.conditions[?(@.type=='Ready')].status}",
      ];
      const all = tenant.bindings.map(() => 'True').join(' ');
      await waitFor(async () => (await kubectl(tenant.kubeconfig, ['get', ...ready])) === all, {
        what: `all bindings of ${tenant.workspace.path} to be Ready`,
        timeout: 300_000,
        interval: 1000,
      });
      const apis = [...tenant.apis.keys()];
      const firsts = apis.map((api) =>
        manifest(api === 'revised' ? 'v1beta1' : 'v1', { api, name: 'first', spec: { size: 3, note: 'a' } }),
      );
      await apply(tenant.kubeconfig, manifests(firsts));
      for (const api of apis)
        before.set(`${tenant.user} ${api}`, await synced(tenant, api, 'first', { size: 3, note: 'a' }));
    });
  });

  afterAll(async () => {
    await controller?.stop();
    const all = APIS.map(full);
    await kubectl(provider, ['delete', 'crd', ...all, '--ignore-not-found', '--wait=false']);
  });

  describe('in a way that kcp cannot take over', () => {
    const schemas = new Map<string, string | undefined>();

    beforeAll(async () => {
      await eachTenant(async (tenant) => {
        await Promise.all(
          [...tenant.apis.keys()].map(async (api) =>
            schemas.set(`${tenant.user} ${api}`, await served(tenant, api)),
          ),
        );
      });
      const changed = REFUSED.filter(({ fields }) => fields !== undefined);
      await apply(
        provider,
        manifests(changed.map(({ api, ...version }) => crd(group, api, [{ name: 'v1', ...version }]))),
      );
      await eachTenant(async ({ apis, account: { namespace } }) => {
        for (const { api, edit } of REFUSED)
          if (edit !== undefined && apis.has(api))
            await editBoundSchema(provider, { name: full(api), namespace }, edit);
      });
    });

    it.each(REFUSED)('stays as it was with $change, and says how they differ', async (row) => {
      const { api, reason, difference } = row;
      await eachWith(api, async (tenant) => {
        const said = await waitFor(
          async () => {
            const now = await readCondition(
              tenant.kubeconfig,
              'kubebindbinding',
              bindingOf(tenant, api),
              'SchemaInSync',
            );
            return now?.reason === reason && now.message.includes(difference) && now;
          },
          { what: `the binding to say that ${api} has ${difference}`, interval: 500 },
        );
        expect(said.status).toBe('False');
        expect(said.message).toContain(full(api));
        expect(said.message).toMatch(/Ask the provider to/);
        expect(await served(tenant, api)).toBe(schemas.get(`${tenant.user} ${api}`));
        await unchanged(tenant, api);
        await write(tenant, api, 'second', { note: 'b' });
        await synced(tenant, api, 'second', { note: 'b' });
      });
    });
  });

  describe('in a way that kcp can take over', () => {
    it.each([
      ['extended', 'InSync'],
      // Others of its binding cannot be taken over.
      ['beside', 'Incompatible'],
    ])('gets its new field within a minute, and its objects lie still: %s', async (api, reason) => {
      const colour = { type: 'string', enum: ['red', 'green'] };
      await apply(provider, crd(group, api, [{ name: 'v1', fields: { ...FIELDS, colour } }]));
      const place = ['boundschema', full(api), '-n', leaving.account.namespace];
      await waitFor(async () => JSON.stringify(await read(provider, place)).includes('colour'), {
        what: 'the backend to follow',
        interval: 500,
      });
      await waitFor(
        async () => (await kubectl(leaving.kubeconfig, ['explain', `${full(api)}.spec`])).includes('colour'),
        { what: 'the new field to be served', timeout: 60_000, interval: 500 },
      );
      await condition(leaving, api, 'SchemaInSync', reason);
      await write(leaving, api, 'second', { note: 'b', colour: 'red' });
      await synced(leaving, api, 'second', { note: 'b', colour: 'red' });
      await unchanged(leaving, api);
    });

    it('gets its new version within a minute, and its objects lie still', async () => {
      const versions = [{ name: 'v1beta1', storage: false }, { name: 'v1' }];
      await apply(provider, crd(group, 'revised', versions));
      await eachTenant(async (tenant) => {
        await waitFor(() => kubectl(tenant.kubeconfig, ['get', `reviseds.v1.${group}`, 'first']), {
          what: 'the new version to be served',
          timeout: 70_000,
          interval: 500,
        });
        await condition(tenant, 'revised', 'SchemaInSync', 'InSync');
        await write(tenant, 'revised', 'second', { note: 'b' });
        await synced(tenant, 'revised', 'second', { note: 'b' });
        await unchanged(tenant, 'revised');
      });
    });

    it('keeps a version that the provider drops while kcp may hold objects in it, and says so', async () => {
      // As whoever drops a version does: first everything is stored in another one.
      const stored = async () => {
        const all = JSON.stringify(await read(provider, [full('revised'), '-A']));
        return kubectl(provider, ['replace', '-f', '-'], { input: all });
      };
      await waitFor(stored, { what: 'the copies to be stored in the new version' });
      const status = JSON.stringify({ status: { storedVersions: ['v1'] } });
      const target = ['crd', full('revised')];
      await kubectl(provider, ['patch', ...target, '--subresource=status', '--type=merge', '-p', status]);
      await apply(provider, crd(group, 'revised', [{ name: 'v1' }]));
      await eachTenant(async (tenant) => {
        const said = await condition(tenant, 'revised', 'SchemaInSync', 'VersionKept');
        expect(said.status).toBe('True');
        expect(said.message).toContain(`version v1beta1 of ${full('revised')} (use v1)`);
        expect(said.message).toContain('storageVersions');
        expect(said.message).toContain('deleted and created again');
        await condition(tenant, 'revised', 'Ready', 'Ready');
        await unchanged(tenant, 'revised');
        await writeAs('v1beta1', tenant, { api: 'revised', name: 'second', spec: { note: 'c' } });
        await synced(tenant, 'revised', 'second', { note: 'c' });
      });
    });
  });

  describe('for the worse', () => {
    it('stays Ready and says of when its schema is, when the backend no longer follows it', async () => {
      const place = ['-n', leaving.account.namespace];
      // The backend itself does so when the request is ten minutes old.
      await kubectl(provider, ['delete', 'apiserviceexportrequest', 'accepted', ...place]);
      await kubectl(provider, ['annotate', 'apiserviceexport', 'accepted', 'example.org/look=now', ...place]);
      const said = await waitFor(
        async () => {
          const now = await readCondition(leaving.kubeconfig, 'kubebindbinding', 'accepted', 'SchemaInSync');
          return now?.reason === 'NotFollowed' && now;
        },
        { what: 'the binding to say that nobody follows', interval: 500 },
      );
      expect(said.status).toBe('Unknown');
      expect(said.message).toMatch(/bound schema, which was written at 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ/);
      expect(said.message).toContain('ask the provider to create APIServiceExportRequest accepted');
      await condition(leaving, 'extended', 'Ready', 'Ready');
    });

    it('loses nothing when the provider withdraws the export, and goes on when that is back', async () => {
      const { namespace } = leaving.account;
      const target = ['apiserviceexport', 'withdrawn', '-n', namespace];
      const { apiVersion, kind, spec } = (await read(provider, target)) as Record<string, unknown>;
      await kubectl(provider, ['delete', ...target]);
      const said = await condition(leaving, 'withdrawn', 'ExportReady', 'ExportNotFound');
      expect(said.message).toContain('Nothing is deleted here');
      await unchanged(leaving, 'withdrawn');

      const metadata = { name: 'withdrawn', namespace };
      await apply(provider, JSON.stringify({ apiVersion, kind, metadata, spec }));
      await condition(leaving, 'withdrawn', 'Ready', 'Ready');
      await write(leaving, 'withdrawn', 'second', { note: 'b' });
      await synced(leaving, 'withdrawn', 'second', { note: 'b' });
      await unchanged(leaving, 'withdrawn');
    });

    it('keeps all objects when the provider removes the API itself, and makes the copies again', async () => {
      await kubectl(provider, ['delete', 'crd', full('withdrawn')]);
      const said = await condition(leaving, 'withdrawn', 'Syncing', 'ProviderUnreachable');
      expect(said.message).toMatch(/^The provider does not serve the API.*Nothing is deleted/s);
      const { uid } = (await part(leaving, 'withdrawn', 'first')).metadata;
      expect(uid).toBe(before.get('alice withdrawn')?.metadata.uid);

      await apply(provider, crd(group, 'withdrawn'));
      await condition(leaving, 'withdrawn', 'Ready', 'Ready');
      await synced(leaving, 'withdrawn', 'first', { size: 3, note: 'a' });
      await unchanged(leaving, 'withdrawn');
    });
  });

  describe('and that a foreign hand points elsewhere', () => {
    const foreign = new Map<string, string>();
    const owner = () => installation.workspace.kubeconfig;

    /** Makes kcp serve another schema for a binding, past the controller. */
    async function pointElsewhere(api: string, edit: (spec: ResourceSchema['spec']) => void) {
      const { status } = (await read(leaving.kubeconfig, ['kubebindbinding', bindingOf(leaving, api)])) as {
        status: { apiExport: { name: string } };
      };
      const generated = (await read(owner(), ['apiexport', status.apiExport.name])) as ApiExport;
      const resource = generated.spec.resources.find(({ name }) => name === `${api}s`);
      const { spec, ...schema } = (await read(owner(), [
        'apiresourceschema',
        resource?.schema ?? '',
      ])) as ResourceSchema;
      edit(spec);
      const name = `x${uniqueName('foreign')}.${full(api)}`;
      await apply(owner(), JSON.stringify({ ...schema, metadata: { name }, spec }));
      if (resource !== undefined) resource.schema = name;
      await kubectl(owner(), ['replace', '-f', '-'], { input: JSON.stringify(generated) });
      foreign.set(api, name);
    }

    beforeAll(async () => {
      // A controller that runs would put it right before kcp has followed.
      await controller?.stop();
      for (const { api, edit } of FOREIGN) await pointElsewhere(api, edit);
    });

    it('is taken over by kcp without a word, whatever the change', async () => {
      for (const { api } of FOREIGN)
        await waitFor(async () => (await served(leaving, api)) === foreign.get(api), {
          what: `kcp to follow the foreign schema of ${api}`,
          interval: 500,
        });
      const { items } = (await read(leaving.kubeconfig, ['apibindings'])) as {
        items: { status?: { phase?: string; conditions?: { type: string; status: string }[] } }[];
      };
      expect(items.length).toBeGreaterThan(leaving.bindings.length);
      for (const { status } of items) {
        expect(status?.phase).toBe('Bound');
        expect(status?.conditions?.filter((each) => each.status !== 'True')).toEqual([]);
      }
      const first = ['get', `replaceds.v1.${group}`, 'first'];
      expect((await runKubectl(leaving.kubeconfig, first)).code).not.toBe(0);
    });

    it('is served as before soon after the controller is back, with the same objects', async () => {
      controller = await startController({ installation, dir, args: ['--max-workers=4'] });
      for (const { api, reason } of FOREIGN) {
        await waitFor(
          async () => {
            const is = await part(leaving, api, 'first');
            return is.spec.size === 3 && (await served(leaving, api)) !== foreign.get(api);
          },
          { what: `${api} to be served as before`, interval: 500 },
        );
        await condition(leaving, api, 'SchemaInSync', reason);
        await unchanged(leaving, api);
        await write(leaving, api, 'third', { note: 'd' });
        await synced(leaving, api, 'third', { note: 'd' });
      }
    });
  });

  describe('and that somebody leaves afterwards', () => {
    const gone = async (tenant: Tenant, api: string) => expect(await copies(tenant, api)).toEqual([]);

    beforeAll(async () => {
      await kubectl(leaving.kubeconfig, ['delete', 'kubebindbindings', '--all', '--wait=false']);
    });

    it('is gone with the whole workspace within two minutes', async () => {
      await deleteWorkspace(bench.consumers, dying.workspace);
      for (const api of dying.apis.keys()) await gone(dying, api);
    });

    it.each(Object.keys(LEAVING))('is unbound within two minutes: %s', async (binding) => {
      const target = ['delete', 'kubebindbinding', binding, '--ignore-not-found', '--timeout=110s'];
      await kubectl(leaving.kubeconfig, target);
      for (const api of Object.keys(LEAVING[binding] ?? {})) {
        await gone(leaving, api);
        const rest = await runKubectl(leaving.kubeconfig, ['get', full(api)]);
        expect(rest.code).not.toBe(0);
      }
    });
  });
});
