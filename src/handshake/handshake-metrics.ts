import { Histogram } from 'prom-client';
import { counter, type MetricsRegistry } from '../telemetry/metrics.js';

/** How a login's step or a page request ended. Labels never name a tenant, a connection or a provider. */
export interface HandshakeMetrics {
  /** A request was answered. `route` is the pattern, not the path. */
  request(route: string, status: number, seconds: number): void;
  login(outcome: LoginOutcome): void;
}

type LoginOutcome =
  | 'claimed'
  | 'wrong-code'
  | 'redirected'
  | 'finished'
  | 'refused'
  | 'no-offers'
  | 'backend-refused'
  | 'backend-unavailable'
  | 'restart-requested';

/** Registers the handshake's metrics; once for each registry. */
export function createHandshakeMetrics(registry: MetricsRegistry): HandshakeMetrics {
  const requests = counter(
    registry,
    'kcp_bind_handshake_requests_total',
    'Requests to the login pages, by route and status.',
    ['route', 'status'],
  );
  const durations = new Histogram({
    name: 'kcp_bind_handshake_request_seconds',
    help: 'Time until a login page was answered, by route.',
    labelNames: ['route'],
    buckets: [0.01, 0.05, 0.25, 1, 5, 15, 60],
    registers: [registry],
  });
  const logins = counter(registry, 'kcp_bind_handshake_logins_total', 'Steps of logins, by outcome.', [
    'outcome',
  ]);
  return {
    request: (route, status, seconds) => {
      requests.inc({ route, status: String(status) });
      durations.observe({ route }, seconds);
    },
    login: (outcome) => logins.inc({ outcome }),
  };
}
