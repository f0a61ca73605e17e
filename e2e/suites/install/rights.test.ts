import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  waitUntilReady,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith, readCondition } from '../../harness/conditions.js';
import {
  applyDatabase,
  bindWithPlugin,
  createConsumer,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import { workspaceKubeconfig } from '../../harness/kcp.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { madeForTenants } from '../../harness/leftovers.js';
import { runPlugin } from '../../harness/plugin.js';
import { staysTrue, waitFor } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

interface Rule {
  apiGroups?: string[];
  resources?: string[];
  nonResourceURLs?: string[];
  verbs: string[];
}
interface Role {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules: Rule[];
}

/** Each rule of apiexport/controller.yaml is taken away alone: what fails then, and that it ends afterwards. */
describe('the rights of the controller', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('rights')}`;
  let installation: ClientInstallation;
  let alice: Consumer;
  let controller: Controller | undefined;
  let roles: Role[] = [];
  const shown = new Set<string>();

  const read = async (kind: string, name: string, ...at: string[]) =>
    JSON.parse(
      await kubectl(installation.workspace.kubeconfig, ['get', kind, name, ...at, '-o', 'json']),
    ) as Role;
  const write = (role: Role) => {
    const { kind, metadata, rules } = role;
    const { name, namespace } = metadata;
    const object = { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name, namespace }, rules };
    return kubectl(installation.workspace.kubeconfig, ['replace', '-f', '-'], {
      input: JSON.stringify(object),
    });
  };
  const has = (rule: Rule, what: string) => [...(rule.resources ?? []), ...rule.verbs].includes(what);

  /** Takes the rule with that resource (or verb) away; all others are as installed. */
  const withoutRule = async (what: string) => {
    for (const role of roles) {
      const rules = role.rules.filter((rule) => !has(rule, what));
      if (rules.length < role.rules.length) shown.add(what);
      await write({ ...role, rules });
    }
  };
  const restore = async () => {
    for (const role of roles) await write(role);
  };

  const start = async (dontWait = false, kubeconfig?: string) => {
    controller = await startController({
      installation,
      dir,
      dontWait,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
    });
    return controller;
  };
  const stop = async () => {
    await controller?.stop();
    controller = undefined;
  };
  const readyz = async () => {
    const answer = await fetch(`${controller?.url ?? ''}/readyz`).catch(() => undefined);
    return answer && { ok: answer.ok, text: await answer.text() };
  };
  const unreadyBecause = (what: string) =>
    waitFor(
      async () => {
        const answer = await readyz();
        return answer !== undefined && !answer.ok && answer.text.includes(what);
      },
      { what: `/readyz to name ${what}` },
    );
  const connection = (name: string) =>
    JSON.stringify({
      apiVersion: 'kcp.kube-bind.io/v1alpha1',
      kind: 'KubeBindConnection',
      metadata: { name },
      spec: { backend: { url: bench.backendUrl } },
    });
  const isHandled = async (name: string) =>
    (await readCondition(alice.kubeconfig, 'kubebindconnection', name, 'Authenticated')) !== undefined;

  const staysUnhandled = (name: string) =>
    staysTrue(async () => !(await isHandled(name)), { what: `${name} to be left alone`, ms: 3000 });

  beforeAll(async () => {
    [installation, alice] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind'), 'service-account'),
      createConsumer('alice'),
    ]);
    roles = await Promise.all([
      read('clusterrole', 'kcp.kube-bind.io:controller'),
      read('role', 'kcp-bind-controller', '-n', 'kube-bind'),
    ]);
  });

  afterAll(async () => {
    await stop();
  });

  it.each([['apiexports'], ['secrets']])(
    'ends at start, naming %s, without the rule for them',
    async (what) => {
      await withoutRule(what);
      const { child, logFile } = await start(true);
      expect(await child.ended).toMatchObject({ code: 1 });
      const last = (await readFile(logFile, 'utf8')).trim().split('\n').at(-1) ?? '';
      expect(last).toMatch(new RegExp(`"level":"?(fatal|60)"?.*forbidden.*${what}`));
      await restore();
      await start();
      await stop();
    },
  );

  it('ends at start when a user whom the role is bound to may not enter the workspace', async () => {
    await apply(
      installation.workspace.kubeconfig,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'ClusterRoleBinding',
            metadata: { name: 'carol-is-the-controller' },
            roleRef: {
              apiGroup: 'rbac.authorization.k8s.io',
              kind: 'ClusterRole',
              name: roles[0]?.metadata.name,
            },
            subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carol' }],
          },
          {
            apiVersion: 'rbac.authorization.k8s.io/v1',
            kind: 'RoleBinding',
            metadata: { name: 'carol-is-the-controller', namespace: 'kube-bind' },
            roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: roles[1]?.metadata.name },
            subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carol' }],
          },
        ],
      }),
    );
    const kubeconfig = await workspaceKubeconfig(
      bench.consumers,
      installation.workspace.path,
      `${installation.workspace.kubeconfig}-carol.yaml`,
      'carol-token',
    );
    await withoutRule('access');
    const { child, logFile } = await start(true, kubeconfig);
    expect(await child.ended).toMatchObject({ code: 1 });
    expect(await readFile(logFile, 'utf8')).toContain("refuses the controller's account");
    await restore();
    await start(false, kubeconfig);
    await stop();
  });

  it('does nothing without the rule for leases, and says so', async () => {
    await bindClient(alice.kubeconfig, installation);
    await withoutRule('leases');
    const { logFile } = await start(true);
    await unreadyBecause('leases.coordination.k8s.io');
    await waitFor(
      async () => /cannot get the lease|lease kube-bind.*forbidden/.test(await readFile(logFile, 'utf8')),
      { what: 'the log to speak of the lease' },
    );
    await apply(alice.kubeconfig, connection('leases'));
    await staysUnhandled('leases');
    await restore();
    if (controller) await waitUntilReady(controller);
    await waitFor(() => isHandled('leases'), { what: 'the connection to be handled' });
    await stop();
  });

  it.each([
    ['apiexports/content', 'apiexports/content.apis.kcp.io'],
    ['apiexportendpointslices', 'apiexportendpointslices.apis.kcp.io'],
  ])('sees no workspace without the rule for %s, and says so', async (what, shownAs) => {
    const name = what.replace('/', '-');
    await withoutRule(what);
    await start(true);
    await unreadyBecause(shownAs);
    await apply(alice.kubeconfig, connection(name));
    await staysUnhandled(name);
    await restore();
    if (controller) await waitUntilReady(controller);
    await waitFor(() => isHandled(name), { what: 'the connection to be handled', timeout: 90_000 });
    await stop();
  });

  it('binds and unbinds with all of them', async () => {
    await start();
    await bindWithPlugin(alice, installation, { args: ['--connection=provider'] });
    await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'databases', '--timeout=60s']);
    await stop();
  });

  // One life of a binding: each rule is missing when its turn comes, and is back while the next one is missing.
  it.each([
    ['apiresourceschemas', 'apiresourceschemas.apis.kcp.io'],
    ['serviceaccounts', 'serviceaccounts'],
    ['clusterroles', 'clusterrolebindings.rbac.authorization.k8s.io'],
    ['serviceaccounts/token', 'serviceaccounts/token'],
  ])('gets no further with a binding without the rule for %s, and says so', async (what, shownAs) => {
    await withoutRule(what);
    const { logFile } = controller ?? (await start(true));
    const before = (await readFile(logFile, 'utf8')).length;
    await apply(
      alice.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindBinding',
        metadata: { name: 'databases', labels: { looked: what.replace('/', '-') } },
        spec: { connection: 'provider', template: 'databases' },
      }),
    );
    await unreadyBecause(shownAs);
    await waitFor(
      async () => {
        const [text, bound] = await Promise.all([
          readFile(logFile, 'utf8'),
          readCondition(alice.kubeconfig, 'kubebindbinding', 'databases', 'APIBound'),
        ]);
        const said = `${text.slice(before).replaceAll('\\"', '"')} ${bound?.message ?? ''}`;
        return said.includes('forbidden') && said.includes(`resource "${what}"`);
      },
      { what: `log or condition to name ${what}` },
    );
    const ready = await readCondition(alice.kubeconfig, 'kubebindbinding', 'databases', 'Ready');
    expect(ready?.status).not.toBe('True');
  });

  it('goes on where it stopped as soon as all rights are there', async () => {
    await restore();
    if (controller) await waitUntilReady(controller);
    await conditionWith(alice.kubeconfig, 'kubebindbinding', 'databases', {
      type: 'Ready',
      reason: 'Ready',
      timeout: 120_000,
    });
    await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' });
    await syncedDatabase(alice, 'main');
  });

  it('leaves nothing behind after unbind', async () => {
    const unbind = await runPlugin(alice.kubeconfig, ['unbind', 'databases', '--yes']);
    expect(unbind).toMatchObject({ code: 0 });
    await kubectl(alice.kubeconfig, ['delete', 'kubebindconnections', '--all', '--timeout=60s']);
    expect(await madeForTenants(installation)).toEqual([]);
  });

  it('were all taken away once', () => {
    const rules = roles.flatMap((role) => role.rules);
    expect(rules.filter((rule) => ![...shown].some((what) => has(rule, what)))).toEqual([]);
  });
});
