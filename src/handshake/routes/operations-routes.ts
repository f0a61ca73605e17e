import type { FastifyInstance } from 'fastify';
import type { MetricsRegistry } from '../../telemetry/metrics.js';
import type { ReadyReport } from '../ready-report.js';

export interface Operations {
  readonly ready: () => ReadyReport | Promise<ReadyReport>;
  readonly isLeader: () => boolean;
  readonly registry: MetricsRegistry;
  /** Text of a scrape, workers included. */
  readonly renderMetrics: () => Promise<string>;
}

/** Health and metrics. Not limited in rate: probes and scrapes all come from one address. */
export function registerOperationsRoutes(app: FastifyInstance, operations: Operations): void {
  // Load balancers ask with HEAD; nothing here has an effect.
  const probe = { config: { rateLimit: false }, exposeHeadRoute: true } as const;
  app.get('/healthz', probe, async (_request, reply) => reply.type('text/plain').send('ok'));
  app.get('/readyz', probe, async (_request, reply) => {
    const report = await operations.ready();
    return reply.code(report.ready ? 200 : 503).send({ ...report, leader: operations.isLeader() });
  });
  app.get('/metrics', probe, async (_request, reply) =>
    reply.type(operations.registry.contentType).send(await operations.renderMetrics()),
  );
}
