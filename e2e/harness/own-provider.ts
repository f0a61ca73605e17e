import { readFile } from 'node:fs/promises';
import { parseAllDocuments, stringify } from 'yaml';

import { startBackend } from './backend.js';
import type { Bench } from './bench.js';
import { apply } from './kubectl.js';
import { ROOT } from './root.js';
import { startProvider } from './start-bench.js';
import { createWorkspace, uniqueName, type Workspace } from './workspaces.js';

/** The example API of e2e/service/databases.yaml, as far as tests change it. */
export interface ExampleApi {
  readonly crd: {
    spec: {
      versions: {
        schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, unknown> } } } };
      }[];
    };
  };
  readonly template: { spec: Record<string, unknown> };
}

/** A provider of a suite's own, so that a suite may change what is offered. */
export interface OwnProvider {
  readonly workspace: Workspace;
  readonly backendUrl: string;
  /** The bench with this provider in place of the shared one. */
  readonly bench: Bench;
  /** Offers the example API with a change; it starts from the file each time. */
  offer(change: (api: ExampleApi) => void): Promise<void>;
  stop(): Promise<void>;
}

/** @param change of the example API before the backend starts */
export async function startOwnProvider(
  bench: Bench,
  dir: string,
  change: (api: ExampleApi) => void,
): Promise<OwnProvider> {
  const workspace = await createWorkspace(bench.providers, 'root', uniqueName('provider'));
  const service = await startProvider(workspace, { crds: bench.crds, dir });
  const offer = async (edit: (api: ExampleApi) => void) => {
    const text = await readFile(`${ROOT}/e2e/service/databases.yaml`, 'utf8');
    const [crd, template] = parseAllDocuments(text).map((each) => each.toJS() as unknown);
    const api = { crd, template } as ExampleApi;
    edit(api);
    await apply(workspace.kubeconfig, [api.crd, api.template].map((each) => stringify(each)).join('---\n'));
  };
  await offer(change);
  const backend = await startBackend({
    binary: bench.programs['backend'] ?? '',
    dir,
    kcp: bench.providers,
    provider: workspace,
  });
  return {
    workspace,
    backendUrl: backend.url,
    bench: { ...bench, provider: workspace, backendUrl: backend.url },
    offer,
    stop: async () => {
      await service.stop();
      await backend.stop();
    },
  };
}
