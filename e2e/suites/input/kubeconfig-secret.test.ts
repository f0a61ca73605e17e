import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse, stringify } from 'yaml';

import { writesSince } from '../../harness/audit-log.js';
import { readBench } from '../../harness/bench.js';
import { bindClient } from '../../harness/client-binding.js';
import {
  installClient,
  startController,
  type ClientInstallation,
  type Controller,
} from '../../harness/client-installation.js';
import { conditionWith, readCondition } from '../../harness/conditions.js';
import {
  applyDatabase,
  createConsumer,
  readDatabase,
  syncedDatabase,
  type Consumer,
} from '../../harness/consumer.js';
import {
  createContractAccount,
  exportDatabases,
  type ContractAccount,
} from '../../harness/contract-account.js';
import { apply, kubectl } from '../../harness/kubectl.js';
import { lastWords } from '../../harness/last-words.js';
import { runPlugin } from '../../harness/plugin.js';
import { freePorts } from '../../harness/ports.js';
import { staysTrue } from '../../harness/wait-for.js';
import { uniqueName } from '../../harness/workspaces.js';

interface Config {
  'current-context'?: string;
  clusters: { name: string; cluster: Record<string, unknown> }[];
  contexts: { name: string; context: Record<string, unknown> }[];
  users: { name: string; user: Record<string, unknown> }[];
}

/** A kubeconfig with one thing changed. */
function changed(kubeconfig: string, change: (config: Config, at: Parts) => void): string {
  const config = parse(kubeconfig) as Config;
  change(config, {
    cluster: config.clusters[0]?.cluster ?? {},
    context: config.contexts[0]?.context ?? {},
    user: config.users[0]?.user ?? {},
  });
  return stringify(config);
}

interface Parts {
  readonly cluster: Record<string, unknown>;
  readonly context: Record<string, unknown>;
  readonly user: Record<string, unknown>;
}

const LABEL = { 'kcp.kube-bind.io/credentials': 'true' };

function secret(name: string, data: Record<string, string>, labels: Record<string, string> = LABEL): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default', labels },
    stringData: data,
  });
}

function connection(name: string, ref: Record<string, string> = {}): string {
  return stringify({
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindConnection',
    metadata: { name },
    spec: { kubeconfigSecretRef: { namespace: 'default', name, ...ref } },
  });
}

function binding(name: string, spec: Record<string, unknown>): string {
  return stringify({
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindBinding',
    metadata: { name },
    spec,
  });
}

const DATABASES = [{ group: 'example.org', resource: 'databases', versions: ['v1'] }];

interface BadSecret {
  readonly title: string;
  /** Absent: there is no Secret. */
  readonly secret?: (name: string, good: string) => string;
  readonly key?: string;
  readonly reason: string;
  /** The field, then what to do. */
  readonly says: readonly RegExp[];
}

const refused = (
  title: string,
  change: (config: Config, at: Parts) => void,
  says: readonly RegExp[],
): BadSecret => ({
  title,
  secret: (name, good) => secret(name, { kubeconfig: changed(good, change) }),
  reason: 'KubeconfigInvalid',
  says: [/Secret default\/[a-z-]+, key kubeconfig: /, ...says],
});

const BAD_SECRETS: readonly BadSecret[] = [
  {
    title: 'a Secret that does not exist',
    reason: 'SecretNotFound',
    says: [/Secret default\/a-secret-that-does-not-exist does not exist/, /create it with the kubeconfig/],
  },
  {
    title: 'a Secret without the label',
    secret: (name, good) => secret(name, { kubeconfig: good }, {}),
    reason: 'SecretNotLabelled',
    says: [/lacks the label kcp\.kube-bind\.io\/credentials: "true"/, /add it/],
  },
  {
    title: 'a key that the Secret does not have',
    secret: (name, good) => secret(name, { kubeconfig: good }),
    key: 'other',
    reason: 'KubeconfigInvalid',
    says: [/key other: the Secret has no such key/, /store the kubeconfig under it/],
  },
  {
    title: 'no kubeconfig',
    secret: (name) => secret(name, { kubeconfig: 'just words' }),
    reason: 'KubeconfigInvalid',
    says: [/kubeconfig must be a mapping/],
  },
  refused('a program to run', (_, { user }) => (user['exec'] = { command: '/bin/sh', args: ['-c', 'id'] }), [
    /users\[0\]\.user\.exec/,
    /programs are never run; use a token/,
  ]),
  refused('an auth provider', (_, { user }) => (user['auth-provider'] = { name: 'gcp' }), [
    /users\[0\]\.user\.auth-provider/,
    /use a token or a client certificate/,
  ]),
  refused('verification switched off', (_, { cluster }) => (cluster['insecure-skip-tls-verify'] = true), [
    /clusters\[0\]\.cluster\.insecure-skip-tls-verify/,
    /use certificate-authority-data/,
  ]),
  refused('a proxy', (_, { cluster }) => (cluster['proxy-url'] = 'http://127.0.0.1:1'), [
    /clusters\[0\]\.cluster\.proxy-url/,
    /--allow-proxy/,
  ]),
  refused('an authority in a file', (_, { cluster }) => (cluster['certificate-authority'] = '/etc/passwd'), [
    /clusters\[0\]\.cluster\.certificate-authority/,
    /files are never read; use certificate-authority-data/,
  ]),
  refused('a token in a file', (_, { user }) => (user['tokenFile'] = '/var/run/secrets/token'), [
    /users\[0\]\.user\.tokenFile/,
    /files are never read; use token/,
  ]),
  refused('a certificate in a file', (_, { user }) => (user['client-certificate'] = '/etc/tls.crt'), [
    /users\[0\]\.user\.client-certificate/,
    /use client-certificate-data/,
  ]),
  refused('somebody to act as', (_, { user }) => (user['as'] = 'system:admin'), [
    /users\[0\]\.user\.as/,
    /impersonation is not supported/,
  ]),
  refused('a server without TLS', (_, { cluster }) => (cluster['server'] = 'http://10.0.0.1'), [
    /clusters\[0\]\.cluster\.server/,
    /must start with https/,
  ]),
  refused('no credentials', (_, { user }) => delete user['token'], [
    /users\[0\]\.user has neither token nor client-certificate-data/,
  ]),
  refused('no context', (config) => delete config['current-context'], [/current-context: is missing/]),
  refused('no namespace', (_, { context }) => delete context['namespace'], [
    /current context has no namespace; set it to the contract namespace/,
  ]),
];

interface WrongWay {
  readonly name: string;
  readonly change: (at: Parts) => void;
  readonly type: 'Connected' | 'ExportReady';
  readonly reason: string;
  /** What the message has: where it led, and what to do. */
  readonly says: readonly string[];
}

/** Connections with credentials that the user has already. */
describe('spec.kubeconfigSecretRef', () => {
  const bench = readBench();
  const dir = `${bench.dir}/${uniqueName('kubeconfig')}`;
  let installation: ClientInstallation;
  let strict: ClientInstallation;
  let controllers: Controller[] = [];
  let alice: Consumer;
  let bob: Consumer;
  let carol: Consumer;
  let denied: Consumer;
  let first: ContractAccount;
  let second: ContractAccount;
  let third: ContractAccount;
  let closedPort = 0;

  beforeAll(async () => {
    [closedPort = 0] = await freePorts(1);
    [installation, strict, alice, bob, carol, denied] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
      createConsumer('carol'),
      createConsumer('bob'),
    ]);
    controllers = await Promise.all([
      startController({ installation, dir }),
      startController({ installation: strict, dir: `${dir}-strict`, allowAddresses: [] }),
    ]);
    first = await createContractAccount(uniqueName('first'));
    second = await createContractAccount(uniqueName('second'));
    third = await createContractAccount(uniqueName('third'));
    await exportDatabases(second, 'offered');
    await Promise.all([
      bindClient(alice.kubeconfig, installation),
      bindClient(bob.kubeconfig, installation, { rejected: ['secrets', 'logicalclusters'] }),
      bindClient(carol.kubeconfig, installation),
      bindClient(denied.kubeconfig, strict),
    ]);
  });

  afterAll(async () => {
    await Promise.all(controllers.map((controller) => controller.stop()));
  });

  const bindingOf = (consumer: Consumer, name: string, type: string, reason: string) =>
    conditionWith(consumer.kubeconfig, 'kubebindbinding', name, { type, reason, timeout: 60_000 });
  const connectionOf = (consumer: Consumer, name: string, type: string, reason: string) =>
    conditionWith(consumer.kubeconfig, 'kubebindconnection', name, { type, reason });

  describe('with a usable kubeconfig', () => {
    it('is Connected without a login', async () => {
      await apply(alice.kubeconfig, secret('provider', { kubeconfig: first.kubeconfig }));
      await apply(alice.kubeconfig, connection('provider'));
      const stored = await connectionOf(alice, 'provider', 'Authenticated', 'KubeconfigStored');
      expect(stored.status).toBe('True');
      expect(await connectionOf(alice, 'provider', 'Ready', 'Ready')).toMatchObject({ status: 'True' });
      const status = await kubectl(alice.kubeconfig, ['get', 'kubebindconnection', 'provider', '-o', 'json']);
      expect(JSON.parse(status)).toMatchObject({ status: { phase: 'Connected' } });
      expect(
        await readCondition(alice.kubeconfig, 'kubebindconnection', 'provider', 'BackendReachable'),
      ).toBe(undefined);
    });

    it('serves a binding that names resources', async () => {
      await apply(alice.kubeconfig, binding('databases', { connection: 'provider', resources: DATABASES }));
      await bindingOf(alice, 'databases', 'Ready', 'Ready');
      await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres' });
      const { copy } = await syncedDatabase(alice, 'main');
      expect(copy.metadata.annotations).toMatchObject({ 'kube-bind.io/cluster-namespace': first.namespace });
    });

    it('serves a binding whose template is the name of an export that is there', async () => {
      await apply(carol.kubeconfig, secret('creds', { 'a-key': second.kubeconfig }));
      await apply(carol.kubeconfig, connection('provider', { name: 'creds', key: 'a-key' }));
      await apply(carol.kubeconfig, binding('mine', { connection: 'provider', template: 'offered' }));
      await bindingOf(carol, 'mine', 'Ready', 'Ready');
      await applyDatabase(carol.kubeconfig, 'main', { engine: 'mysql' });
      const { copy } = await syncedDatabase(carol, 'main');
      expect(copy.metadata.annotations).toMatchObject({ 'kube-bind.io/cluster-namespace': second.namespace });
    });

    it('says where a template was looked for that is not there', async () => {
      await apply(alice.kubeconfig, binding('cowboys', { connection: 'provider', template: 'cowboys' }));
      const { status, message } = await bindingOf(alice, 'cowboys', 'ExportReady', 'ExportNotFound');
      expect(status).toBe('False');
      expect(message).toContain('named cowboys');
      expect(message).toContain(first.namespace);
      expect(message).toMatch(/ask the provider for its name, or set spec\.resources/);
      await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'cowboys', '--timeout=60s']);
    });
  });

  describe('with a Secret that cannot be used', () => {
    const nameOf = ({ title }: BadSecret) => title.toLowerCase().replace(/[^a-z]+/g, '-');

    beforeAll(async () => {
      const manifests = BAD_SECRETS.flatMap((bad) => {
        const name = nameOf(bad);
        const made = bad.secret === undefined ? [] : [bad.secret(name, third.kubeconfig)];
        return [...made, connection(name, bad.key === undefined ? {} : { key: bad.key })];
      });
      await apply(alice.kubeconfig, manifests.join('---\n'));
    });

    it.each(BAD_SECRETS)('names field and remedy: $title', async (bad) => {
      const condition = await connectionOf(alice, nameOf(bad), 'Authenticated', bad.reason);
      expect(condition.status).toBe('False');
      for (const part of bad.says) expect(condition.message).toMatch(part);
      const ready = await connectionOf(alice, nameOf(bad), 'Ready', 'NotReady');
      expect(ready.message).toBe(condition.message);
    });

    it('shows all of them with the plugin, which ends with 11', async () => {
      for (const bad of BAD_SECRETS.slice(0, 5)) {
        const run = await runPlugin(alice.kubeconfig, ['status', nameOf(bad)]);
        expect(run.code).toBe(11);
        expect(run.stdout).toContain(`needs you: Authenticated ${bad.reason}: `);
        for (const part of bad.says) expect(run.stdout).toMatch(part);
      }
    });

    it('says so on a binding that uses it', async () => {
      const name = nameOf({ title: 'a program to run', reason: '', says: [] });
      await apply(alice.kubeconfig, binding('waits', { connection: name, template: 'databases' }));
      const condition = await bindingOf(alice, 'waits', 'Connected', 'ConnectionNotReady');
      expect(condition.message).toContain(`KubeBindConnection ${name} has no credentials yet`);
      await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', 'waits', '--timeout=60s']);
    });

    it('becomes Connected by itself when the Secret is put right', async () => {
      const [missing, unlabelled] = BAD_SECRETS.slice(0, 2).map(nameOf) as [string, string];
      await apply(alice.kubeconfig, secret(missing, { kubeconfig: third.kubeconfig }));
      await kubectl(alice.kubeconfig, [
        'label',
        'secret',
        unlabelled,
        'kcp.kube-bind.io/credentials=true',
        '-n',
        'default',
      ]);
      await connectionOf(alice, missing, 'Ready', 'Ready');
      await connectionOf(alice, unlabelled, 'Ready', 'Ready');
    });
  });

  describe('with a kubeconfig that is well-formed and leads nowhere', () => {
    const cases = (): readonly WrongWay[] => [
      {
        name: 'nobody-listens',
        change: ({ cluster }) => (cluster['server'] = `https://127.0.0.1:${closedPort}`),
        type: 'Connected',
        reason: 'ProviderUnreachable',
        says: [`https://127.0.0.1:${closedPort} does not answer`, 'It is tried again'],
      },
      {
        name: 'another-authority',
        change: ({ cluster }) =>
          (cluster['certificate-authority-data'] = Buffer.from(bench.consumers.ca).toString('base64')),
        type: 'Connected',
        reason: 'ProviderUnreachable',
        says: ['TLS with the provider', 'Check the certificate authority in the kubeconfig'],
      },
      {
        name: 'another-namespace',
        change: ({ context }) => (context['namespace'] = first.namespace),
        type: 'ExportReady',
        reason: 'ProviderForbidden',
        says: [first.namespace, 'Ask the provider'],
      },
      {
        name: 'no-provider',
        change: ({ cluster, user, context }) => {
          cluster['server'] = `${bench.consumers.address}/clusters/${alice.workspace.path}`;
          cluster['certificate-authority-data'] = Buffer.from(bench.consumers.ca).toString('base64');
          user['token'] = 'alice-token';
          context['namespace'] = 'default';
        },
        type: 'ExportReady',
        reason: 'ExportNotFound',
        says: [alice.workspace.path, 'Check that the kubeconfig belongs to a kube-bind provider'],
      },
    ];

    it.each(['nobody-listens', 'another-authority', 'another-namespace', 'no-provider'])(
      'says on the binding what is wrong: %s',
      async (name) => {
        const wrong = cases().find((each) => each.name === name);
        if (wrong === undefined) throw new Error(name);
        const kubeconfig = changed(third.kubeconfig, (_, at) => wrong.change(at));
        const manifests = [
          secret(name, { kubeconfig }),
          connection(name),
          binding(name, { connection: name, resources: DATABASES }),
        ];
        await apply(alice.kubeconfig, manifests.join('---\n'));
        const condition = await bindingOf(alice, name, wrong.type, wrong.reason);
        expect(condition.status).toBe('False');
        for (const part of wrong.says) expect(condition.message).toContain(part);
        const force = 'kcp.kube-bind.io/force-release=true';
        await kubectl(alice.kubeconfig, ['annotate', 'kubebindbinding', name, force]);
        await kubectl(alice.kubeconfig, ['delete', 'kubebindbinding', name, '--timeout=60s']);
      },
    );
  });

  describe('in a workspace that rejects claims', () => {
    it('names the claim on Secrets and the APIBinding to accept it on', async () => {
      await apply(bob.kubeconfig, secret('provider', { kubeconfig: third.kubeconfig }));
      await apply(bob.kubeconfig, connection('provider'));
      const condition = await connectionOf(bob, 'provider', 'Authenticated', 'SecretsClaimMissing');
      expect(condition.status).toBe('False');
      expect(condition.message).toContain('Secret default/provider cannot be read');
      expect(condition.message).toContain('accept the permission claim secrets on APIBinding kube-bind');
    });

    it('makes no login without the claim on logicalclusters, and the plugin says so', async () => {
      const run = await runPlugin(bob.kubeconfig, [
        bench.backendUrl,
        `--client-path=${installation.workspace.path}`,
        '--template=databases',
        '--connection=by-login',
        '--no-browser',
        '--timeout=60s',
      ]);
      expect(run.code).toBe(9);
      const [cause, remedy] = lastWords(run.stderr);
      expect(cause).toMatch(/Authenticated HandshakeUnavailable: .*logicalclusters/);
      expect(cause).toContain('APIBinding kube-bind');
      expect(remedy).toContain('do what the message says');
      const condition = await connectionOf(bob, 'by-login', 'Authenticated', 'HandshakeUnavailable');
      expect(condition.status).toBe('False');
    });
  });

  describe('where the installation does not allow the address', () => {
    it('stores the kubeconfig, dials nothing, and names the address and the flag', async () => {
      await apply(denied.kubeconfig, secret('provider', { kubeconfig: third.kubeconfig }));
      await apply(denied.kubeconfig, connection('provider'));
      await apply(denied.kubeconfig, binding('databases', { connection: 'provider', resources: DATABASES }));
      const condition = await bindingOf(denied, 'databases', 'Connected', 'ProviderUnreachable');
      expect(condition.status).toBe('False');
      expect(condition.message).toMatch(/127\.0\.0\.1 is a loopback address/);
      expect(condition.message).toMatch(/an admin can allow it with --allow-address 127\.0\.0\.1/);
    });

    it('does not ask a backend there either, and the plugin ends with 6', async () => {
      const run = await runPlugin(denied.kubeconfig, [
        bench.backendUrl,
        `--client-path=${strict.workspace.path}`,
        '--template=databases',
        '--connection=by-login',
        '--no-browser',
        '--timeout=60s',
      ]);
      expect(run.code).toBe(6);
      const [cause] = lastWords(run.stderr);
      expect(cause).toMatch(/BackendReachable AddressDenied: .*127\.0\.0\.1 is a loopback address/);
      expect(cause).toMatch(/--allow-address/);
    });
  });

  describe('whose kubeconfig is replaced', () => {
    const replace = (kubeconfig: string) => apply(alice.kubeconfig, secret('provider', { kubeconfig }));
    const withToken = (token: string) =>
      changed(first.kubeconfig, (_, { user }) => Object.assign(user, { token }));

    it('follows it: a token that is none shows at once, and so does a new one', async () => {
      await replace(withToken('expired'));
      const condition = await bindingOf(alice, 'databases', 'Connected', 'Unauthorized');
      expect(condition.status).toBe('False');
      expect(condition.message).toMatch(/put a new kubeconfig into the Secret/);
      await connectionOf(alice, 'provider', 'CredentialsValid', 'Unauthorized');

      const account = await accountOf(first);
      const token = await kubectl(bench.provider.kubeconfig, [
        'create',
        'token',
        account,
        '-n',
        first.namespace,
      ]);
      await replace(withToken(token.trim()));
      await bindingOf(alice, 'databases', 'Ready', 'Ready');
      await connectionOf(alice, 'provider', 'CredentialsValid', 'Accepted');
      await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 33 });
      await syncedDatabase(alice, 'main', (_, copy) => copy.spec.sizeGiB === 33);
    });

    it('keeps what works when the new one is refused', async () => {
      await replace(
        changed(first.kubeconfig, (_, { user }) => Object.assign(user, { exec: { command: 'x' } })),
      );
      const condition = await connectionOf(alice, 'provider', 'Authenticated', 'KubeconfigInvalid');
      expect(condition.message).toContain('The kubeconfig that was stored before stays in use');
      await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 34 });
      await syncedDatabase(alice, 'main', (_, copy) => copy.spec.sizeGiB === 34);
    });

    it('writes nothing with credentials of another account, and goes on when the former ones are back', async () => {
      const { copy } = await syncedDatabase(alice, 'main');
      const start = Date.now();
      await replace(third.kubeconfig);
      const condition = await bindingOf(alice, 'databases', 'Connected', 'ProviderChanged');
      expect(condition.status).toBe('False');
      expect(condition.message).toMatch(/nothing is written/i);
      expect(condition.message).toMatch(/[Rr]estore the former credentials, or delete this binding/);
      await connectionOf(alice, 'provider', 'CredentialsValid', 'ProviderChanged');
      await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 35 });
      await applyDatabase(alice.kubeconfig, 'later', { engine: 'postgres' });
      const writes = async () =>
        (await writesSince(bench.providers.auditLog, start)).filter(
          ({ user, uri }) =>
            user.includes(third.namespace) ||
            uri.includes(`/${third.namespace}`) ||
            uri.includes(`/namespaces/${copy.metadata.namespace}/`),
        );
      await staysTrue(async () => (await writes()).length === 0, {
        what: 'no write on the provider',
        ms: 8000,
        interval: 1000,
      });
      expect((await readDatabase(alice.kubeconfig, 'later'))?.status).toBeUndefined();
      await replace(first.kubeconfig);
      await syncedDatabase(alice, 'main', (_, each) => each.spec.sizeGiB === 35);
      await syncedDatabase(alice, 'later');
      expect(await writes()).not.toEqual([]);
      expect((await syncedDatabase(alice, 'main')).copy.metadata.uid).toBe(copy.metadata.uid);
    });

    it('goes on with its copy when the Secret is gone', async () => {
      await kubectl(alice.kubeconfig, ['delete', 'secret', 'provider', '-n', 'default']);
      await applyDatabase(alice.kubeconfig, 'main', { engine: 'postgres', sizeGiB: 36 });
      await syncedDatabase(alice, 'main', (_, copy) => copy.spec.sizeGiB === 36);
      const stored = await connectionOf(alice, 'provider', 'Authenticated', 'KubeconfigStored');
      expect(stored.message).toMatch(/does not exist.*The copy that was stored before stays in use/);
    });
  });

  /** Name of the ServiceAccount that a kubeconfig's token is for. */
  async function accountOf(account: ContractAccount): Promise<string> {
    const names = await kubectl(bench.provider.kubeconfig, [
      'get',
      'serviceaccounts',
      '-n',
      account.namespace,
      '-o',
      'jsonpath={.items[*].metadata.name}',
    ]);
    const name = names.split(' ').find((each) => each !== 'default');
    if (name === undefined) throw new Error(`no ServiceAccount in ${account.namespace}`);
    return name;
  }
});
