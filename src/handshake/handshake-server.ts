import cookie from '@fastify/cookie';
import formbody from '@fastify/formbody';
import helmet from '@fastify/helmet';
import rateLimit from '@fastify/rate-limit';
import { fastify } from 'fastify';
import type { FastifyInstance, FastifyServerOptions, InjectOptions, LightMyRequestResponse } from 'fastify';
import type { Logger } from '../telemetry/logger.js';
import { renderMetrics } from '../telemetry/metrics.js';
import type { MetricsRegistry } from '../telemetry/metrics.js';
import { BackendGate } from './backend-gate.js';
import { parseExternalUrl, withoutPrefix } from './external-url.js';
import type { ExternalUrl } from './external-url.js';
import { createHandshakeMetrics } from './handshake-metrics.js';
import type { HandshakeMetrics } from './handshake-metrics.js';
import { contentSecurityPolicy, sendPage } from './login-pages.js';
import type { LoginPages } from './login-pages.js';
import { answerProblems, endBrokenConnection } from './problem-answers.js';
import { problemPage } from './pages/problem-page.js';
import { PROBLEMS, PageProblem } from './problems.js';
import { rateKey } from './rate-key.js';
import { registerCallbackRoute } from './routes/callback-route.js';
import { registerCatalogueRoutes } from './routes/catalogue-routes.js';
import { registerFormRoutes } from './routes/form-routes.js';
import { registerLoginRoute } from './routes/login-route.js';
import { registerOperationsRoutes } from './routes/operations-routes.js';
import type { Operations } from './routes/operations-routes.js';

/** PEM. */
interface TlsMaterial {
  readonly cert: string;
  readonly key: string;
}

export interface HandshakeServerOptions
  extends Omit<LoginPages, 'external' | 'metrics' | 'closing'>, Pick<Operations, 'ready' | 'isLeader'> {
  /** Address as browsers see it, a path prefix included. Absent: no logins, only health and metrics. */
  readonly externalUrl: string | undefined;
  /** Registry that the handshake's metrics join; also what `/metrics` shows. */
  readonly metrics: MetricsRegistry;
  /** Text of `/metrics`, where workers have metrics too. */
  readonly renderMetrics?: () => Promise<string>;
  /** Absent: plain HTTP, for a reverse proxy that ends TLS. */
  readonly tls?: TlsMaterial | undefined;
  /** Addresses or CIDRs of reverse proxies whose X-Forwarded-For is believed, for the rate limits. */
  readonly trustedProxies?: readonly string[];
}

export interface HandshakeServer {
  /** Resolves with the address, for instance `http://127.0.0.1:8080`. */
  listen(at: {
    readonly host: string;
    readonly port: number;
    readonly signal?: AbortSignal;
  }): Promise<string>;
  /** Takes a renewed certificate for new connections; only where the server was made with one. */
  renewTls(tls: TlsMaterial): void;
  /** Finishes the requests at hand; idempotent. */
  close(): Promise<void>;
  /** A request without a network, for tests. */
  inject(request: InjectOptions | string): Promise<LightMyRequestResponse>;
}

const BODY_BYTES = 64 * 1024;
const MAX_CONNECTIONS = 1000;
const BACKEND_TALKS = { all: 32, ofOneWorkspace: 4 };
/** Requests a minute from one address, to all pages together; forms and callbacks take fewer. */
const REQUESTS_A_MINUTE = 240;

/**
 * The web server of the handshake, health and metrics. It keeps nothing: every step is in the client workspace, so
 * that any replica, before or after a restart, can go on with a login. Its writes are guarded by what was read, so
 * they need no leader.
 *
 * @throws TypeError where `externalUrl` cannot be used
 */
export async function createHandshakeServer(options: HandshakeServerOptions): Promise<HandshakeServer> {
  const external = options.externalUrl === undefined ? undefined : parseExternalUrl(options.externalUrl);
  const closing = new AbortController();
  const app = createApp(options, external);
  const metrics = createHandshakeMetrics(options.metrics);
  const log = options.log.child({ component: 'handshake' });

  await protect(app, external);
  watchRequests(app, log, metrics);
  registerOperationsRoutes(app, {
    ready: options.ready,
    isLeader: options.isLeader,
    registry: options.metrics,
    renderMetrics: options.renderMetrics ?? (() => renderMetrics(options.metrics)),
  });
  if (external !== undefined) {
    const pages: LoginPages = { ...options, external, metrics, log, closing: closing.signal };
    const gate = new BackendGate(BACKEND_TALKS);
    registerLoginRoute(app, pages);
    registerFormRoutes(app, pages, gate);
    registerCallbackRoute(app, pages, gate);
    registerCatalogueRoutes(app, pages);
  }
  answerProblems(app, log);
  await app.ready();

  let closed: Promise<void> | undefined;
  return {
    listen: ({ host, port, signal }) =>
      app.listen({ host, port, ...(signal === undefined ? {} : { signal }) }),
    renewTls: (tls) => renewTls(app, tls),
    close: () => {
      closing.abort(new Error('the server closes'));
      closed ??= Promise.resolve(app.close());
      return closed;
    },
    inject: (request) => app.inject(request),
  };
}

function createApp(options: HandshakeServerOptions, external: ExternalUrl | undefined): FastifyInstance {
  const settings: FastifyServerOptions = {
    // Its own log would hold URLs, and URLs hold tokens; `watchRequests` writes what is fit.
    logger: false,
    bodyLimit: BODY_BYTES,
    requestTimeout: 30_000,
    connectionTimeout: 90_000,
    keepAliveTimeout: 30_000,
    forceCloseConnections: 'idle',
    // A HEAD must not do what a GET does.
    exposeHeadRoutes: false,
    trustProxy: options.trustedProxies === undefined ? false : [...options.trustedProxies],
    rewriteUrl: (request) => withoutPrefix(external, request.url ?? '/'),
    clientErrorHandler: endBrokenConnection,
    frameworkErrors: (_error, _request, reply) => {
      void sendPage(reply, problemPage(new PageProblem('bad-request')), PROBLEMS['bad-request'].status);
    },
  };
  const https = options.tls === undefined ? {} : { https: { ...options.tls, minVersion: 'TLSv1.2' } };
  // Typed as a plain server either way: the kinds differ in nothing that is used here.
  const app = fastify({ ...settings, ...https });
  app.server.maxConnections = MAX_CONNECTIONS;
  return app;
}

/** Headers, limits and parsers that every answer and request goes through. */
async function protect(app: FastifyInstance, external: ExternalUrl | undefined): Promise<void> {
  await app.register(helmet, {
    contentSecurityPolicy: false,
    frameguard: { action: 'deny' },
    referrerPolicy: { policy: 'no-referrer' },
    // Other services may share the host name: nothing is said for subdomains.
    strictTransportSecurity:
      external?.https === true ? { maxAge: 15_552_000, includeSubDomains: false } : false,
  });
  app.addHook('onRequest', async (_request, reply) => {
    reply.header('cache-control', 'no-store').header('content-security-policy', contentSecurityPolicy());
  });
  await app.register(rateLimit, {
    max: REQUESTS_A_MINUTE,
    timeWindow: '1 minute',
    cache: 10_000,
    keyGenerator: (request) => rateKey(request.ip),
    errorResponseBuilder: () => new PageProblem('too-many-requests'),
  });
  await app.register(cookie);
  app.removeAllContentTypeParsers();
  await app.register(formbody, { bodyLimit: BODY_BYTES });
}

/** One line and one count for each request, by route: a path holds the login's id, a query may hold a token. */
function watchRequests(app: FastifyInstance, log: Logger, metrics: HandshakeMetrics): void {
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unmatched';
    const status = reply.statusCode;
    metrics.request(route, status, reply.elapsedTime / 1000);
    const line = { method: request.method, route, status, ms: Math.round(reply.elapsedTime) };
    const quiet = status < 400 && !route.startsWith('/login') && !route.startsWith('/callback');
    log[quiet ? 'debug' : 'info'](line, 'request');
  });
}

/** A server that ends TLS itself can take another certificate while it runs. */
interface TlsServer {
  setSecureContext(tls: TlsMaterial): void;
}

function renewTls(app: FastifyInstance, tls: TlsMaterial): void {
  if (isTlsServer(app.server)) app.server.setSecureContext(tls);
}

function isTlsServer(server: object): server is TlsServer {
  return 'setSecureContext' in server && typeof server.setSecureContext === 'function';
}
