import { apply, kubectl } from '../../harness/kubectl.js';
import { finishLogin } from '../../harness/login.js';
import { waitFor } from '../../harness/wait-for.js';
import { conditionWith } from '../../harness/conditions.js';

/** An account at a provider, as its administrator sees it. */
export interface Account {
  /** The contract namespace. */
  readonly namespace: string;
  /** What the backend knows the consumer by. */
  readonly identity: string;
}

/** A connection by its name, and what it is made of. */
export interface WantedConnection {
  readonly name: string;
  readonly backend: { readonly url: string; readonly account?: string };
}

/** Makes a connection, and does what its user does in the browser. */
export async function logIn(kubeconfig: string, { name, backend }: WantedConnection): Promise<void> {
  const manifest = {
    apiVersion: 'kcp.kube-bind.io/v1alpha1',
    kind: 'KubeBindConnection',
    metadata: { name },
    spec: { backend },
  };
  await apply(kubeconfig, JSON.stringify(manifest));
  const login = await waitFor(
    async () => {
      const text = await kubectl(kubeconfig, ['get', 'kubebindconnection', name, '-o', 'json']);
      const { status } = JSON.parse(text) as {
        status?: { authentication?: { url?: string; userCode?: string } };
      };
      return status?.authentication?.url !== undefined && status.authentication;
    },
    { what: `the login URL of ${name}`, timeout: 60_000 },
  );
  await finishLogin(login.url ?? '', login.userCode);
  await conditionWith(kubeconfig, 'kubebindconnection', name, { type: 'Authenticated', reason: 'LoggedIn' });
}

/** The account of a workspace's connection; the only connection where no name is given. */
export async function accountOf(
  kubeconfig: string,
  providerKubeconfig: string,
  name?: string,
): Promise<Account> {
  const namespace = await waitFor(
    async () => {
      const text = await kubectl(kubeconfig, ['get', 'kubebindconnections', '-o', 'json']);
      const { items } = JSON.parse(text) as {
        items: { metadata: { name: string }; status?: { provider?: { namespace?: string } } }[];
      };
      const found = items.filter(({ metadata }) => name === undefined || metadata.name === name);
      return found.length === 1 && found[0]?.status?.provider?.namespace;
    },
    { what: 'the contract namespace', timeout: 30_000 },
  );
  const text = await kubectl(providerKubeconfig, ['get', 'namespace', namespace, '-o', 'json']);
  const { metadata } = JSON.parse(text) as { metadata: { annotations: Record<string, string> } };
  return { namespace, identity: metadata.annotations['backend.kube-bind.io/identity'] ?? '' };
}
