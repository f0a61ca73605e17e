import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { locate } from '../scripts/tools.mjs';
import { installBackendCrds, startBackend } from './harness/backend.js';
import { installClient } from './harness/client-installation.js';
import { bindClient } from './harness/client-binding.js';
import { startKcp } from './harness/kcp.js';
import { apply, kubectl } from './harness/kubectl.js';
import { waitFor } from './harness/wait-for.js';
import { createWorkspace } from './harness/workspaces.js';
import { freePorts } from './harness/ports.js';
import { MiniBrowser, forms } from './harness/mini-browser.js';
import { finishLogin, text } from './harness/login.js';
import { createBackendApi } from '../src/backend/http/backend-api.js';
import { createForeignHttp } from '../src/kube/foreign-http-undici.js';
import { createOpenDialler } from '../src/kube/dialler/dialler.js';
import { createSystemClock } from '../src/kube/system-clock.js';
import { connect } from '../src/kube/transport/connect.js';
import { loadKubeconfig } from '../src/kube/kubeconfig.js';
import { sanitizeKubeconfig } from '../src/kube/kubeconfig-sanitizer.js';
import { followResource } from '../src/kube/cache/follow-resource.js';
import { GVR } from '../src/api/gvr.js';
import { openVirtualWorkspace } from '../src/vw-client/open.js';
import { createConnectionStates } from '../src/state/secret-connection-states.js';
import { CONNECTION_STATE_SELECTOR } from '../src/state/state-secret.js';
import { createInstallationKey } from '../src/state/secret-installation-key.js';
import { createHandshakeServer } from '../src/handshake/handshake-server.js';
import { startLogin } from '../src/state/login/start-login.js';
import { loginUrl } from '../src/state/login/login-url.js';
import { challengeOf } from '../src/state/login/secret-hash.js';
import { connectionStateName } from '../src/api/names.js';
import { createLogger } from '../src/telemetry/logger.js';
import { createMetricsRegistry } from '../src/telemetry/metrics.js';
import type { LogicalCluster } from '../src/kube/object.js';

const dir = '/tmp/hs/run';
const { programs, crds } = await locate();
const kcp = await startKcp({ binary: programs['kcp']!, name: 'one', dir });
const stops: (() => Promise<unknown>)[] = [() => kcp.stop()];
try {
  const provider = await createWorkspace(kcp, 'root', 'provider');
  await installBackendCrds(provider, crds);
  const example = '/work/main/e2e/service/databases.yaml';
  await waitFor(() => kubectl(provider.kubeconfig, ['apply', '-f', example]), { what: 'example' });
  const backend = await startBackend({
    binary: programs['backend']!,
    dir: `${dir}/backend`,
    kcp,
    provider,
    prettyName: 'Evil <b>Corp</b>',
  });
  stops.unshift(() => backend.stop());
  const installation = await installClient(kcp, 'kube-bind');
  const tenant = await createWorkspace(kcp, 'root', 'tenant');
  await bindClient(tenant.kubeconfig, installation);
  console.log('bench up');

  const clock = createSystemClock();
  const dialler = createOpenDialler();
  const options = { dialler, userAgent: 'hs', requestTimeoutMs: 20_000, clock, random: Math.random };
  const credentials = await loadKubeconfig({ path: installation.controllerKubeconfig });
  const client = connect(credentials, options);
  const stop = new AbortController();
  const workspaces = openVirtualWorkspace({
    clientWorkspace: client,
    exportName: 'kcp.kube-bind.io',
    connect: (server) => connect({ ...credentials, server }, options),
    clock,
    random: Math.random,
    signal: stop.signal,
  });
  const random = (n: number) => new Uint8Array(randomBytes(n));
  const followed = followResource({
    client,
    gvr: GVR.secrets,
    namespace: 'kube-bind',
    labelSelector: CONNECTION_STATE_SELECTOR,
    cluster: 'client' as LogicalCluster,
    clock,
    random: Math.random,
    signal: stop.signal,
  });
  const states = createConnectionStates({ client, namespace: 'kube-bind', store: followed.store });
  const changes: string[] = [];
  states.onChange((ref) => changes.push(ref.name));
  const [port = 0] = await freePorts(1);
  const externalUrl = `http://127.0.0.1:${port}/pre/fix`;
  const http = createForeignHttp({ dialler, userAgent: 'hs' });
  const lines: string[] = [];
  const log = createLogger({
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  });
  const server = await createHandshakeServer({
    states,
    workspaces,
    installationKey: createInstallationKey({ client, namespace: 'kube-bind', random }),
    backendApi: ({ url, clusterID, caBundle }) => createBackendApi({ http, url, clusterID, ca: caBundle }),
    sanitize: (t) => sanitizeKubeconfig(t, { allowProxy: false }),
    externalUrl,
    clock,
    random,
    log,
    metrics: createMetricsRegistry({ defaults: true }),
    ready: () => ({ ready: true, checks: [] }),
    isLeader: () => true,
  });
  await server.listen({ host: '127.0.0.1', port });
  stops.unshift(async () => {
    stop.abort();
    await server.close();
    await workspaces.close();
    await client.close();
    await http.close();
  });

  const verifier = 'v'.repeat(43);
  async function connection(name: string, challenge?: string) {
    await apply(
      tenant.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindConnection',
        metadata: { name },
        spec: { backend: { url: backend.url }, ...(challenge ? { login: { challenge } } : {}) },
      }),
    );
    const uid = await kubectl(tenant.kubeconfig, ['get', 'kbc', name, '-o', 'jsonpath={.metadata.uid}']);
    const ref = { cluster: tenant.cluster as LogicalCluster, name, uid };
    const { login, id, userCode } = startLogin({ clock, random, challenge });
    const state = await states.read(ref);
    await states.write({ ...state, value: { ...state.value, login } });
    return { ref, url: loginUrl(externalUrl, connectionStateName(ref.cluster, uid), id), userCode };
  }
  const one = await connection('dairy', challengeOf(verifier));
  const t = Date.now();
  const { browser, page } = await finishLogin(`${one.url}?verifier=${verifier}`);
  console.log('login took', Date.now() - t, 'ms; page', page.status, page.url);
  console.log(text(page));
  console.log('history', browser.history.map((u) => u.replace(/=[^&]+/g, '=…')).join('\n  '));
  const { value } = await states.read(one.ref);
  console.log(
    JSON.stringify(
      {
        ...value,
        account: {
          ...value.account,
          credentials: {
            ...value.account?.credentials,
            ca: 'PEM',
            auth: value.account?.credentials.auth.kind,
          },
        },
      },
      null,
      1,
    ),
  );
  const form = forms(page)[0]!;
  console.log('choices', JSON.stringify(form.choices));
  const offer = form.choices.find((c) => c.name === 'offer')!;
  const progress = await browser.submit(page, form, {
    offer: offer.value,
    claim: form.choices.find((c) => c.name === 'claim')?.value,
  });
  console.log(progress.status, progress.url, text(progress));
  console.log(await kubectl(tenant.kubeconfig, ['get', 'kbb', '-o', 'yaml']));
  const callback = browser.history.find((u) => u.includes('/callback/'))!;
  const second = await browser.get(callback);
  console.log('second callback', second.status, second.url.includes('/login/'));
  const two = await connection('by-code');
  const coded = await finishLogin(two.url, two.userCode);
  console.log(
    'by code',
    coded.page.status,
    text(coded.page).slice(0, 80),
    (await states.read(two.ref)).value.account?.contractNamespace,
  );
  // again: same identity, same account
  const again = await connection('dairy', challengeOf('w'.repeat(43)));
  const re = await finishLogin(`${again.url}?verifier=${'w'.repeat(43)}`);
  console.log('again', re.page.status, (await states.read(again.ref)).value.account?.contractNamespace);
  // recorded answers
  const token = new URL(callback).searchParams.get('access_token')!;
  const all = lines.join('');
  const secrets = [
    token,
    verifier,
    one.url.split('.').at(-1)!,
    String((value.account?.credentials.auth as { token?: string }).token),
  ];
  console.log(
    'secrets in log:',
    secrets.map((s) => all.includes(s)),
  );
  console.log('changes', changes.length);
  console.log(lines.slice(0, 8).join(''));
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  console.log(
    metrics
      .split('\n')
      .filter((l) => l.startsWith('kube_bind'))
      .slice(0, 12)
      .join('\n'),
  );
  // claim rejected
  await bindClientRejected();
  async function bindClientRejected() {
    const { clientBinding } = await import('./harness/client-binding.js');
    const other = await createWorkspace(kcp, 'root', 'shy');
    await bindClient(other.kubeconfig, installation, { rejected: ['logicalclusters'] });
    clientBinding;
    await apply(
      other.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindConnection',
        metadata: { name: 'x' },
        spec: { backend: { url: backend.url } },
      }),
    );
    const uid = await kubectl(other.kubeconfig, ['get', 'kbc', 'x', '-o', 'jsonpath={.metadata.uid}']);
    const ref = { cluster: other.cluster as LogicalCluster, name: 'x', uid };
    const { login, id } = startLogin({ clock, random, challenge: challengeOf(verifier) });
    const st = await states.read(ref);
    await apply(
      other.kubeconfig,
      JSON.stringify({
        apiVersion: 'kcp.kube-bind.io/v1alpha1',
        kind: 'KubeBindConnection',
        metadata: { name: 'x' },
        spec: { backend: { url: backend.url }, login: { challenge: challengeOf(verifier) } },
      }),
    );
    await states.write({ ...st, value: { ...st.value, login } });
    const b = new MiniBrowser();
    const p = await b.get(
      `${loginUrl(externalUrl, connectionStateName(ref.cluster, uid), id)}?verifier=${verifier}`,
    );
    console.log('shy', p.status, text(p));
    await kubectl(other.kubeconfig, ['delete', 'kbc', 'x']);
    const gone = await b.get(p.url);
    console.log('gone', gone.status, text(gone));
  }
  readFileSync;
} catch (error) {
  console.error(error);
} finally {
  for (const s of stops) await s().catch((e: unknown) => console.error('stop', e));
}
process.exit(0);
