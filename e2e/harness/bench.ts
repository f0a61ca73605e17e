import { readFileSync } from 'node:fs';

import type { KcpAccess } from './kcp.js';
import type { KubernetesAccess } from './kubernetes.js';
import type { Workspace } from './workspaces.js';

/** Two kcps, and a provider in one of them. */
export interface KcpBench {
  readonly dir: string;
  readonly programs: Readonly<Record<string, string>>;
  readonly crds: string;
  /** The consumers' kcp. */
  readonly consumers: KcpAccess;
  /** Another kcp, for providers. */
  readonly providers: KcpAccess;
  /** A provider workspace with the example service, and the backend in front of it. */
  readonly provider: Workspace;
  readonly backendUrl: string;
}

/** A plain Kubernetes with the example service, and the backend in front of it. */
export interface KubernetesProvider extends KubernetesAccess {
  readonly backendUrl: string;
}

/** What the global set-up started, for all suites. Lies as JSON in the file that E2E_BENCH names. */
export interface Bench extends KcpBench {
  readonly kubernetes: KubernetesProvider;
}

/** The bench of this run; throws where the global set-up did not run. */
export function readBench(): Bench {
  const file = process.env['E2E_BENCH'];
  if (file === undefined) throw new Error('E2E_BENCH is not set: run the suites with `make e2e`');
  return JSON.parse(readFileSync(file, 'utf8')) as Bench;
}
