import { createBackendApi } from '../../src/backend/http/backend-api.js';
import { createOpenDialler } from '../../src/kube/dialler/dialler.js';
import { createForeignHttp } from '../../src/kube/foreign-http-undici.js';
import { readBench, type Bench } from './bench.js';
import { apply } from './kubectl.js';
import { MiniBrowser } from './mini-browser.js';
import { startStubSite } from './stub-site.js';
import { waitFor } from './wait-for.js';
import { kubectl } from './kubectl.js';

/** An account at a provider, as a consumer without this client would have it. */
export interface ContractAccount {
  /** As the backend made it. */
  readonly kubeconfig: string;
  /** The contract namespace. */
  readonly namespace: string;
}

/** Makes the handshake as a bare HTTP client. Nothing beats, or has ever beaten, in the contract namespace. */
export async function createContractAccount(
  identity: string,
  offer: { readonly backendUrl: string; readonly template?: string } = readBench(),
): Promise<ContractAccount> {
  const { backendUrl, template = 'databases' } = offer;
  const http = createForeignHttp({ dialler: createOpenDialler(), userAgent: 'kcp-kube-bind-e2e' });
  const callback = await startStubSite(() => ({ callback: { status: 200, body: 'done' } }));
  try {
    const api = createBackendApi({ http, url: backendUrl });
    const target = { redirectUrl: `${callback.url}/callback`, sessionId: identity };
    const page = await new MiniBrowser().get(api.authorizeUrl(await api.provider(), target));
    const token = new URL(page.url).searchParams.get('access_token');
    if (token === null) throw new Error(`the login ended at ${page.url} with ${page.status}`);
    const bound = await api.bind(token, { template, name: template, identity });
    return { kubeconfig: bound.kubeconfig, namespace: bound.providerNamespace };
  } finally {
    await callback.close();
    await http.close();
  }
}

/**
 * Makes the provider export `databases` in a contract namespace, as its administrator would.
 *
 * @param more of the request's spec
 */
export async function exportDatabases(
  account: ContractAccount,
  name: string,
  more: Readonly<Record<string, unknown>> = {},
  { provider }: Bench = readBench(),
): Promise<void> {
  const request = {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceExportRequest',
    metadata: { name, namespace: account.namespace },
    spec: { resources: [{ group: 'example.org', resource: 'databases', versions: ['v1'] }], ...more },
  };
  await apply(provider.kubeconfig, JSON.stringify(request));
  await waitFor(
    () => kubectl(provider.kubeconfig, ['get', 'apiserviceexport', name, '-n', account.namespace]),
    { what: `export ${name} in ${account.namespace}` },
  );
}
