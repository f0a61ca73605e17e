import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

/** Text of a kubeconfig with one context. */
export function kubeconfigText(access: {
  readonly server: string;
  readonly ca: string;
  readonly token?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly namespace?: string;
}): string {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const user =
    access.token === undefined
      ? {
          'client-certificate-data': base64(access.cert ?? ''),
          'client-key-data': base64(access.key ?? ''),
        }
      : { token: access.token };
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'default',
    clusters: [
      {
        name: 'default',
        cluster: { server: access.server, 'certificate-authority-data': base64(access.ca) },
      },
    ],
    users: [{ name: 'default', user }],
    contexts: [
      {
        name: 'default',
        context: {
          cluster: 'default',
          user: 'default',
          ...(access.namespace === undefined ? {} : { namespace: access.namespace }),
        },
      },
    ],
  });
}

/** Writes a kubeconfig, readable by its owner only, and gives its path. */
export async function writeKubeconfig(
  path: string,
  access: Parameters<typeof kubeconfigText>[0],
): Promise<string> {
  await writeFile(path, kubeconfigText(access), { mode: 0o600 });
  return path;
}
