import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { stringify } from 'yaml';

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
import { apply, kubectl, runKubectl } from '../../harness/kubectl.js';
import { lastWords } from '../../harness/last-words.js';
import { runPlugin } from '../../harness/plugin.js';
import { freePorts } from '../../harness/ports.js';
import { startStubSite, type StubSite } from '../../harness/stub-site.js';
import { uniqueName } from '../../harness/workspaces.js';

const JSON_TYPE = { 'content-type': 'application/json' };

function providerDocument(url: string, change: Readonly<Record<string, unknown>> = {}): string {
  const oauth2CodeGrant = { authenticatedURL: `${url}/api/authorize` };
  return JSON.stringify({
    apiVersion: 'v1alpha2',
    kind: 'BindingProvider',
    version: 'v0.8.2',
    providerPrettyName: 'Stub',
    authenticationMethods: [{ method: 'OAuth2CodeGrant', oauth2CodeGrant }],
    ...change,
  });
}

const SITE = (url: string) => ({
  page: { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' },
  redirect: { status: 302, headers: { location: 'https://login.example.test/start' } },
  'bad-gateway': { status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' },
  empty: { status: 200 },
  object: { status: 200, headers: JSON_TYPE, body: '{}' },
  old: { status: 200, headers: JSON_TYPE, body: providerDocument(url, { version: '0.4.0' }) },
  elsewhere: { status: 200, headers: JSON_TYPE, body: providerDocument('https://evil.example.test') },
});

interface BadUrl {
  readonly title: string;
  readonly url: (place: Place) => string;
  readonly reason: string;
  /** What the condition's message and the plugin's say besides the URL: cause, then remedy. */
  readonly says: readonly RegExp[];
  /** Of the plugin; 6 unless it sees the fault on the command line. */
  readonly exit?: number;
}

interface Place {
  readonly site: string;
  readonly closed: string;
  readonly kcp: string;
}

const NEEDED = /kube-bind backend of version v0\.8 or later/;

const BAD_URLS: readonly BadUrl[] = [
  {
    title: 'a port where nobody listens',
    url: ({ closed }) => closed,
    reason: 'Unreachable',
    says: [/refused/i, /check (spec\.backend\.url|the URL)/],
  },
  {
    title: 'a host that does not exist',
    url: () => 'https://no-such-host.invalid',
    reason: 'Unreachable',
    says: [/no-such-host\.invalid/, /check (spec\.backend\.url|the URL)/],
  },
  {
    title: 'a web page',
    url: ({ site }) => `${site}/page`,
    reason: 'NotABackend',
    says: [/status 200 and content type text\/html/, NEEDED, /Check the URL/],
  },
  {
    title: 'a redirect to a login page',
    url: ({ site }) => `${site}/redirect`,
    reason: 'NotABackend',
    says: [/status 302/, /login\.example\.test/, /redirects are not followed/, /Check the URL/],
  },
  {
    title: "a gateway's error page",
    url: ({ site }) => `${site}/bad-gateway`,
    reason: 'Unreachable',
    says: [/status 502 and content type text\/html/, /Try again later/],
  },
  {
    title: 'an empty answer',
    url: ({ site }) => `${site}/empty`,
    reason: 'NotABackend',
    says: [/status 200 and no content type/, NEEDED, /Check the URL/],
  },
  {
    title: 'JSON of something else',
    url: ({ site }) => `${site}/object`,
    reason: 'NotABackend',
    says: [/JSON that is no BindingProvider/, NEEDED, /Check the URL/],
  },
  {
    title: 'a backend that is too old',
    url: ({ site }) => `${site}/old`,
    reason: 'UnsupportedBackend',
    says: [/version "0\.4\.0"/, NEEDED, /Ask the provider to upgrade/],
  },
  {
    title: 'a backend that sends logins to another host',
    url: ({ site }) => `${site}/elsewhere`,
    reason: 'ForeignAuthorizeURL',
    says: [/evil\.example\.test/, /Use the URL under which the backend knows itself/],
  },
  {
    title: 'a server whose certificate nobody trusts',
    url: ({ kcp }) => kcp,
    reason: 'TLSFailed',
    says: [/certificate/, /caBundle|--ca-file/],
  },
  {
    title: 'a URL that only looks like one',
    url: () => 'https://127.0.0.1:99999',
    reason: 'InvalidURL',
    says: [/https:\/\/bind\.example\.com/],
    exit: 2,
  },
];

/** What follows a wrong URL, by `kubectl apply` and by the plugin. */
describe('a connection to something that is no backend', () => {
  const bench = readBench();
  let site: StubSite;
  let place: Place;
  let installation: ClientInstallation;
  let controller: Controller;
  let bound: Consumer;
  let fresh: Consumer;

  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    site = await startStubSite(SITE);
    place = { site: site.url, closed: `http://127.0.0.1:${port}`, kcp: bench.providers.address };
    [installation, bound, fresh] = await Promise.all([
      installClient(bench.consumers, uniqueName('kube-bind')),
      createConsumer('alice'),
      createConsumer('bob'),
    ]);
    controller = await startController({ installation, dir: `${bench.dir}/${uniqueName('urls')}` });
    await bindClient(bound.kubeconfig, installation);
    await apply(bound.kubeconfig, BAD_URLS.map((bad) => connection(bad)).join('---\n'));
  });

  afterAll(async () => {
    await controller.stop();
    await site.close();
  });

  const nameOf = ({ title }: BadUrl) => title.toLowerCase().replace(/[^a-z]+/g, '-');
  const connection = (bad: BadUrl) =>
    stringify({
      apiVersion: 'kcp.kube-bind.io/v1alpha1',
      kind: 'KubeBindConnection',
      metadata: { name: nameOf(bad) },
      spec: { backend: { url: bad.url(place) } },
    });

  it.each(BAD_URLS)('says in a condition that it is $title', async (bad) => {
    const condition = await conditionWith(bound.kubeconfig, 'kubebindconnection', nameOf(bad), {
      type: 'BackendReachable',
      reason: bad.reason,
    });
    expect(condition.status).toBe('False');
    expect(condition.message).toContain(bad.url(place));
    for (const part of bad.says) expect(condition.message).toMatch(part);
    const ready = await conditionWith(bound.kubeconfig, 'kubebindconnection', nameOf(bad), {
      type: 'Ready',
      reason: 'NotReady',
    });
    expect(ready.status).toBe('False');
  });

  it.each(BAD_URLS)('is refused by the plugin in two lines: $title', async (bad) => {
    const run = await plugin(fresh, bad.url(place));
    expect(run.code).toBe(bad.exit ?? 6);
    const [cause, remedy] = lastWords(run.stderr);
    expect(cause).toContain(bad.url(place));
    for (const part of bad.says) expect(`${cause} ${remedy}`).toMatch(part);
    expect(run.stdout).toBe('');
  });

  it('has left nothing behind where only the plugin was run', async () => {
    const bindings = await kubectl(fresh.kubeconfig, ['get', 'apibindings', '-o', 'json']);
    expect(bindings).not.toContain('kcp.kube-bind.io');
  });

  it.each([
    ['a user name in it', 'https://user:secret@bind.example.com'],
    ['a query', 'https://bind.example.com/?a=b'],
    ['another scheme', 'ftp://bind.example.com'],
  ])('is refused at admission with %s, and by the plugin before anything else', async (_, url) => {
    const spec = { backend: { url } };
    const manifest = { apiVersion: 'kcp.kube-bind.io/v1alpha1', kind: 'KubeBindConnection', spec };
    const applied = await runKubectl(bound.kubeconfig, ['apply', '-f', '-'], {
      input: JSON.stringify({ ...manifest, metadata: { name: 'refused' } }),
    });
    expect(applied.code).not.toBe(0);
    expect(applied.stderr).toContain('spec.backend.url');
    const run = await plugin(fresh, url);
    expect(run.code).toBe(2);
    expect(run.stderr).not.toContain('secret');
    lastWords(run.stderr);
  });

  it('is given up by the plugin as soon as the controller has said so, where the plugin does not look', async () => {
    const run = await plugin(bound, `${place.site}/page`, '--no-provider-check', '--connection=by-plugin');
    expect(run.code).toBe(6);
    const [cause, remedy] = lastWords(run.stderr);
    expect(cause).toMatch(/connection by-plugin failed: BackendReachable NotABackend: .*text\/html/);
    expect(remedy).toContain('kubectl delete kubebindconnection by-plugin');
  });

  it('becomes usable by itself when the backend comes up', async () => {
    const [port = 0] = await freePorts(1);
    const late: BadUrl = { title: 'late', url: () => `http://127.0.0.1:${port}`, reason: '', says: [] };
    await apply(bound.kubeconfig, connection(late));
    const at = [bound.kubeconfig, 'kubebindconnection', 'late'] as const;
    await conditionWith(...at, { type: 'BackendReachable', reason: 'Unreachable' });
    const up = await startStubSite(
      (url) => ({ api: { status: 200, headers: JSON_TYPE, body: providerDocument(url) } }),
      port,
    );
    try {
      await conditionWith(...at, { type: 'Authenticated', reason: 'AwaitingLogin' });
    } finally {
      await up.close();
    }
  });

  async function plugin(consumer: Consumer, url: string, ...args: readonly string[]) {
    return runPlugin(consumer.kubeconfig, [
      url,
      `--client-path=${installation.workspace.path}`,
      '--template=databases',
      '--no-browser',
      '--timeout=60s',
      ...args,
    ]);
  }
});
