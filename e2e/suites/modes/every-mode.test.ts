import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

import type { KubeClient } from '../../../src/kube/client.js';
import { isStatus } from '../../../src/kube/errors.js';
import type { JsonObject } from '../../../src/kube/json-value.js';
import type { Gvr, KubeObject, ObjectMeta } from '../../../src/kube/object.js';
import {
  installBackendCrds,
  startBackendAt,
  type Backend,
  type ProviderServer,
} from '../../harness/backend.js';
import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith } from '../../harness/conditions.js';
import { createConsumer, type Consumer } from '../../harness/consumer.js';
import { createContractAccount, type ContractAccount } from '../../harness/contract-account.js';
import { clientFor } from '../../harness/kube-client.js';
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { startKubernetes, type Kubernetes } from '../../harness/kubernetes.js';
import { kubernetesPrograms } from '../../harness/start-suite-bench.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { createWorkspace, uniqueName } from '../../harness/workspaces.js';

type ConsumerScope = 'cluster' | 'namespaced';
type Isolation = 'prefixed' | 'namespaced' | 'none';
type Kind = 'Widget' | 'Zone';

const KINDS = { Widget: 'Namespaced', Zone: 'Cluster' } as const;
const PROVIDERS = ['kcp', 'Kubernetes'] as const;
type ProviderName = (typeof PROVIDERS)[number];

/** As it stands in the metadata of an object. */
type Target = Pick<ObjectMeta, 'namespace' | 'name'>;

/** Where the copy of an object `name` (in the workspace's namespace `default`, if it has one) belongs. */
type Place = (contract: string, name: string) => Target;

interface Expected {
  /** Scope of the API in the workspace. */
  readonly scope: 'Namespaced' | 'Cluster';
  /** Absent: the backend offers something that cannot be served. */
  readonly place?: Place;
}

/** What a backend of that isolation makes of the two kinds; its consumer scope changes nothing in this. */
const EXPECTED: Readonly<Record<Isolation, Readonly<Record<Kind, Expected>>>> = {
  prefixed: {
    Widget: {
      scope: 'Namespaced',
      place: (contract, name) => ({ namespace: `${contract}-default`, name }),
    },
    Zone: { scope: 'Cluster', place: (contract, name) => ({ name: `${contract}-${name}` }) },
  },
  namespaced: {
    // A namespaced API of the provider is offered as a cluster-scoped one.
    Widget: { scope: 'Cluster', place: (contract, name) => ({ namespace: contract, name }) },
    // Copies would belong into a namespace, and the provider's API has none.
    Zone: { scope: 'Cluster' },
  },
  none: {
    Widget: { scope: 'Namespaced', place: (_, name) => ({ namespace: 'default', name }) },
    Zone: { scope: 'Cluster', place: (_, name) => ({ name }) },
  },
};

const MODES: readonly { readonly consumerScope: ConsumerScope; readonly isolation: Isolation }[] = (
  ['cluster', 'namespaced'] as const
).flatMap((consumerScope) =>
  (['prefixed', 'namespaced', 'none'] as const).map((isolation) => ({ consumerScope, isolation })),
);

/** One backend in one mode, bound in a workspace. */
interface Bound {
  readonly group: string;
  readonly account: ContractAccount;
  readonly provider: KubeClient;
  readonly backendUrl: string;
  /** Kubeconfig of the provider's admin. */
  readonly admin: string;
}

/**
 * All modes of a backend, with a kcp workspace and with a plain Kubernetes as its provider. A backend has one mode and
 * looks at every request on its provider: kcp gives each mode a workspace, the Kubernetes has one backend at a time.
 */
describe('every mode of a backend', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('modes')}`;
  let installation: ClientInstallation;
  let controller: Controller;
  let kubernetes: Kubernetes;
  const consumers = new Map<ProviderName, Consumer>();
  const workspaces = new Map<ProviderName, KubeClient>();
  /** Another consumer of the same providers. */
  let rival: Consumer;
  let rivals: KubeClient;

  beforeAll(async () => {
    const programs = kubernetesPrograms(bench.programs);
    [installation, kubernetes, rival] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      startKubernetes({ programs, name: 'modes', dir: `${dir}/kubernetes` }),
      createConsumer('bob'),
      ...PROVIDERS.map(async (name) => {
        const consumer = await createConsumer('alice');
        consumers.set(name, consumer);
        workspaces.set(name, await clientFor(consumer.kubeconfig));
      }),
    ]);
    await installBackendCrds(kubernetes, bench.crds);
    controller = await startController({ installation, dir });
    rivals = await clientFor(rival.kubeconfig);
    await Promise.all(
      [...consumers.values(), rival].map(({ kubeconfig }) => bindClient(kubeconfig, installation)),
    );
  });

  afterAll(async () => {
    await controller.stop();
    await Promise.all([...workspaces.values(), rivals].map((client) => client.close()));
    await kubernetes.stop();
  });

  const consumerOf = (name: ProviderName) => found(consumers.get(name));
  const workspaceOf = (name: ProviderName) => found(workspaces.get(name));

  async function serverFor(name: ProviderName, mode: string): Promise<ProviderServer> {
    if (name === 'Kubernetes') {
      const { kubeconfig, address, caFile } = kubernetes;
      return { kubeconfig, server: address, caFile };
    }
    const { address, caFile } = bench.providers;
    const workspace = await createWorkspace(bench.providers, 'root', uniqueName(mode));
    await installBackendCrds(workspace, bench.crds);
    return { kubeconfig: workspace.kubeconfig, server: `${address}/clusters/${workspace.path}`, caFile };
  }

  describe.each(MODES)(
    'consumer scope $consumerScope, isolation $isolation',
    ({ consumerScope, isolation }) => {
      const mode = `${consumerScope}-${isolation}`;
      const bounds = new Map<ProviderName, Bound>();
      const backends: Backend[] = [];

      beforeAll(async () => {
        await Promise.all(
          PROVIDERS.map(async (name) => {
            const place = await serverFor(name, mode);
            const group = `${uniqueName(mode)}.example.org`;
            await apply(place.kubeconfig, offer(group));
            const backend = await startBackendAt(place, {
              binary: bench.programs['backend'] ?? '',
              dir: `${dir}/${mode}-${name}`,
              consumerScope,
              isolation,
            });
            backends.push(backend);
            const { url: backendUrl } = backend;
            // A backend that has just begun takes a moment to give its users their rights.
            const identity = uniqueName(mode);
            const account = await eventually(() =>
              createContractAccount(identity, { backendUrl, template: 'widgets' }),
            );
            await apply(place.kubeconfig, grant(account));
            await apply(consumerOf(name).kubeconfig, connection(mode, account));
            const { kubeconfig: admin } = place;
            bounds.set(name, { group, account, provider: await clientFor(admin), backendUrl, admin });
          }),
        );
      });

      afterAll(async () => {
        await Promise.all([...bounds.values()].map(({ provider }) => provider.close()));
        await Promise.all(backends.map((backend) => backend.stop()));
      });

      const rows = PROVIDERS.flatMap((provider) =>
        (Object.keys(KINDS) as Kind[]).map((kind) => ({ provider, kind, scope: KINDS[kind].toLowerCase() })),
      );

      it.each(rows)('$provider, a $scope API', async ({ provider: name, kind }) => {
        const { group, account, provider } = found(bounds.get(name));
        const { kubeconfig } = consumerOf(name);
        const workspace = workspaceOf(name);
        const gvr: Gvr = { group, version: 'v1', resource: `${kind.toLowerCase()}s` };
        const { scope, place } = EXPECTED[isolation][kind];
        const ofBinding = `${mode}-${gvr.resource}`;
        const inWorkspace = (object: string): Target =>
          scope === 'Cluster' ? { name: object } : { namespace: 'default', name: object };
        const make = (client: KubeClient, target: Target, spec: JsonObject) =>
          client.create(gvr, { apiVersion: `${group}/v1`, kind, metadata: target, spec });

        await apply(kubeconfig, binding(ofBinding, mode, gvr));
        await waitFor(
          () => runKubectl(kubeconfig, ['get', gvr.resource + '.' + group]).then(({ code }) => code === 0),
          {
            what: `${gvr.resource} of ${mode} to be served`,
          },
        );
        const apis = await kubectl(kubeconfig, [
          'get',
          'kubebindbinding',
          ofBinding,
          '-o',
          'jsonpath={.status.apis[0].scope}',
        ]);
        expect(apis).toBe(scope);

        if (place === undefined) {
          const said = await conditionWith(kubeconfig, 'kubebindbinding', ofBinding, {
            type: 'Syncing',
            reason: 'ProviderUnreachable',
          });
          expect(said.message).toMatch(/isolation Namespaced.* cluster-scoped on the provider, ask for it/);
          // Nothing of it can be seen on the provider, so nobody can say that nothing is left there.
          const force = 'kcp.kube-bind.io/force-release=true';
          await kubectl(kubeconfig, ['annotate', 'kubebindbinding', ofBinding, force]);
          await kubectl(kubeconfig, ['delete', 'kubebindbinding', ofBinding, '--timeout=180s'], {
            timeout: 190_000,
          });
          return;
        }

        await make(workspace, inWorkspace('mine'), { size: 2 });
        const copy = await eventually(() => provider.get(gvr, place(account.namespace, 'mine')));
        // Foreign objects: where nothing is bound, and at the place of a copy.
        const stranger = await make(provider, place(account.namespace, 'stranger'), { size: 1 });
        const taken = await make(provider, place(account.namespace, 'taken'), { size: 1 });
        const refused = await make(workspace, inWorkspace('taken'), { size: 3 });
        expect(copy['spec']).toEqual({ size: 2 });
        await provider.patch(
          gvr,
          copy.metadata,
          'merge',
          { status: { phase: 'Served' } },
          { subresource: 'status' },
        );
        await waitFor(
          async () => {
            const { status } = await workspace.get(gvr, inWorkspace('mine'));
            return (status as JsonObject | undefined)?.['phase'] === 'Served';
          },
          { what: 'the status to come back' },
        );
        await workspace.patch(gvr, inWorkspace('mine'), 'merge', { spec: { size: 4 } });
        await waitFor(
          async () => ((await provider.get(gvr, copy.metadata))['spec'] as JsonObject)['size'] === 4,
          { what: 'the edit to arrive' },
        );
        await waitFor(() => conflictEvent(workspace, refused), { what: 'the conflict to be told' });

        await Promise.all(['mine', 'taken'].map((each) => workspace.delete(gvr, inWorkspace(each))));
        for (const each of ['mine', 'taken']) await gone(workspace, gvr, inWorkspace(each));
        await make(workspace, inWorkspace('last'), { size: 5 });
        await eventually(() => provider.get(gvr, place(account.namespace, 'last')));
        await kubectl(kubeconfig, ['delete', 'kubebindbinding', ofBinding, '--timeout=180s'], {
          timeout: 190_000,
        });
        for (const each of ['mine', 'last'])
          expect(await gone(provider, gvr, place(account.namespace, each))).toBe(true);
        for (const each of [stranger, taken]) expect(await provider.get(gvr, each.metadata)).toEqual(each);
      });

      if (isolation !== 'none') return;
      const shared = consumerScope === 'cluster' ? 'kcp' : 'Kubernetes';

      it(`${shared}, the first of two consumers keeps an object that both have, also where the other says Adopt`, async () => {
        const { group, provider, backendUrl, admin } = found(bounds.get(shared));
        const first = { kubeconfig: consumerOf(shared).kubeconfig, workspace: workspaceOf(shared) };
        const second = { kubeconfig: rival.kubeconfig, workspace: rivals };
        const account = await eventually(() =>
          createContractAccount(uniqueName(mode), { backendUrl, template: 'widgets' }),
        );
        await apply(admin, grant(account));
        await apply(second.kubeconfig, connection(mode, account));

        await Promise.all(
          (Object.keys(KINDS) as Kind[]).map(async (kind) => {
            const gvr: Gvr = { group, version: 'v1', resource: `${kind.toLowerCase()}s` };
            const ofBinding = `${mode}-${gvr.resource}-both`;
            const target: Target = kind === 'Zone' ? { name: 'one' } : { namespace: 'default', name: 'one' };
            const make = (client: KubeClient, size: number) =>
              client.create(gvr, { apiVersion: `${group}/v1`, kind, metadata: target, spec: { size } });
            for (const { kubeconfig } of [first, second]) {
              await apply(kubeconfig, binding(ofBinding, mode, gvr));
              await waitFor(
                () =>
                  runKubectl(kubeconfig, ['get', `${gvr.resource}.${group}`]).then(({ code }) => code === 0),
                { what: `${gvr.resource} of ${mode} to be served again` },
              );
            }
            await make(first.workspace, 1);
            const copy = await eventually(() => provider.get(gvr, target));
            const theirs = await make(second.workspace, 2);
            await waitFor(() => conflictEvent(second.workspace, theirs), { what: 'the conflict to be told' });
            const patch = ['--type=merge', '-p', '{"spec":{"conflictPolicy":"Adopt"}}'];
            await kubectl(second.kubeconfig, ['patch', 'kubebindbinding', ofBinding, ...patch]);
            await second.workspace.patch(gvr, target, 'merge', { spec: { size: 3 } });
            await staysTrue(
              async () =>
                (await provider.get(gvr, target)).metadata.resourceVersion === copy.metadata.resourceVersion,
              { what: 'that the copy is left alone', ms: 5000, interval: 500 },
            );
            const said = await conditionWith(second.kubeconfig, 'kubebindbinding', ofBinding, {
              type: 'Syncing',
              reason: 'Conflict',
            });
            expect(said.message).toMatch(/belongs to another consumer\. Use another name/);

            await first.workspace.patch(gvr, target, 'merge', { spec: { size: 4 } });
            await waitFor(
              async () => ((await provider.get(gvr, target))['spec'] as JsonObject)['size'] === 4,
              { what: 'the edit of the first one to arrive' },
            );
            await second.workspace.delete(gvr, target);
            await gone(second.workspace, gvr, target);
            const after = await provider.get(gvr, target);
            expect(after.metadata.uid).toBe(copy.metadata.uid);
            expect(after.metadata).not.toHaveProperty('deletionTimestamp');
            for (const { kubeconfig } of [second, first])
              await kubectl(kubeconfig, ['delete', 'kubebindbinding', ofBinding, '--timeout=180s'], {
                timeout: 190_000,
              });
            await gone(provider, gvr, target);
          }),
        );
      });
    },
  );
});

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the mode was not set up');
  return value;
}

function eventually<T extends object | string | number | true>(ask: () => Promise<T>): Promise<T> {
  return waitFor(ask, { what: 'an object of a mode', timeout: 120_000 });
}

async function gone(client: KubeClient, gvr: Gvr, target: Target): Promise<true> {
  return waitFor(
    () =>
      client.get(gvr, target).then(
        () => false as const,
        (error: unknown) => isStatus(error, 404) && (true as const),
      ),
    { what: `${target.name} to be gone`, timeout: 120_000 },
  );
}

async function conflictEvent(workspace: KubeClient, object: KubeObject): Promise<boolean> {
  const { items } = await workspace.list({ group: '', version: 'v1', resource: 'events' });
  return items.some(
    (event) =>
      event['reason'] === 'Conflict' &&
      (event['involvedObject'] as JsonObject)['uid'] === object.metadata.uid,
  );
}

/** Both kinds, and a template for the namespaced one; the other is asked for without. */
function offer(group: string): string {
  const crds = Object.entries(KINDS).map(([kind, scope]) => {
    const singular = kind.toLowerCase();
    return {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${singular}s.${group}`, labels: { 'kube-bind.io/exported': 'true' } },
      spec: {
        group,
        scope,
        names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            subresources: { status: {} },
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: { type: 'object', properties: { size: { type: 'integer' } } },
                  status: { type: 'object', properties: { phase: { type: 'string' } } },
                },
              },
            },
          },
        ],
      },
    };
  });
  const template = {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceExportTemplate',
    metadata: { name: 'widgets' },
    spec: { scope: 'Namespaced', resources: [{ group, resource: 'widgets', versions: ['v1'] }] },
  };
  return [...crds, template].map((each) => stringify(each)).join('---\n');
}

/** What backend v0.8.2 gives to the consumer that came last only. */
function grant(account: ContractAccount): string {
  return stringify({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `kube-binder-exports-${account.namespace}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'kube-binder-exports' },
    subjects: [{ kind: 'ServiceAccount', name: 'kube-binder', namespace: account.namespace }],
  });
}

const OURS = 'kcp.kube-bind.io/v1alpha1';

/** A connection with the account's kubeconfig. */
function connection(name: string, account: ContractAccount): string {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default', labels: { 'kcp.kube-bind.io/credentials': 'true' } },
    stringData: { kubeconfig: account.kubeconfig },
  };
  const spec = { kubeconfigSecretRef: { namespace: 'default', name } };
  const object = { apiVersion: OURS, kind: 'KubeBindConnection', metadata: { name }, spec };
  return [secret, object].map((each) => stringify(each)).join('---\n');
}

function binding(name: string, connectionName: string, { group, version, resource }: Gvr): string {
  const resources = [{ group, resource, versions: [version] }];
  const spec = { connection: connectionName, resources };
  return stringify({ apiVersion: OURS, kind: 'KubeBindBinding', metadata: { name }, spec });
}
