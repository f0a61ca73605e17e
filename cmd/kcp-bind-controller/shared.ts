import { randomBytes } from 'node:crypto';

import { createBackendApi } from '../../src/backend/http/backend-api.js';
import type { ControllerConfig } from '../../src/config/controller-config.js';
import { createDialler } from '../../src/kube/dialler/dialler.js';
import { createForeignHttp } from '../../src/kube/foreign-http-undici.js';
import { createSystemClock } from '../../src/kube/system-clock.js';
import { createInstallationKey } from '../../src/state/secret-installation-key.js';
import { createReconcilerMetrics } from '../../src/reconcilers/metrics.js';
import type { Logger } from '../../src/telemetry/logger.js';
import { createMetricsRegistry } from '../../src/telemetry/metrics.js';
import { createWatchMetrics } from '../../src/telemetry/watch-metrics.js';
import { createPoolMetrics } from './pool-metrics.js';
import type { Servers } from './servers.js';

export interface RunOptions {
  readonly config: ControllerConfig;
  readonly log: Logger;
  /** Ends the run in order. */
  readonly signal: AbortSignal;
  readonly version: string;
}

/** What all parts share; made before anything runs. */
export function createShared(
  { config, log, version }: Pick<RunOptions, 'config' | 'log' | 'version'>,
  servers: Servers,
) {
  const clock = createSystemClock();
  const registry = createMetricsRegistry({ defaults: true });
  const userAgent = `kcp-bind-controller/${version}`;
  const foreignHttp = createForeignHttp({
    dialler: createDialler(config.syncer.dialPolicy),
    userAgent,
    clock,
  });
  return {
    config,
    log,
    servers,
    version,
    clock,
    registry,
    foreignHttp,
    /** One for pages and start: it reads its Secret once. */
    installationKey: createInstallationKey({
      client: servers.client,
      namespace: config.namespace,
      random: randomBytes,
    }),
    poolMetrics: createPoolMetrics(registry),
    reconcilerMetrics: createReconcilerMetrics(registry),
    countWatch: createWatchMetrics(registry),
    backend: (spec: { url: string; clusterID?: string | undefined; caBundle?: string | undefined }) =>
      createBackendApi({
        http: foreignHttp,
        url: spec.url,
        ...(spec.clusterID === undefined ? {} : { clusterID: spec.clusterID }),
        ...(spec.caBundle === undefined ? {} : { ca: spec.caBundle }),
      }),
  };
}

export type Shared = ReturnType<typeof createShared>;
