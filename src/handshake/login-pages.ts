import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BackendApi } from '../backend/http/backend-api.js';
import type { Clock } from '../kube/clock.js';
import type { ServerCredentials } from '../kube/credentials.js';
import type { ConnectionStates, InstallationKey } from '../state/connection-states.js';
import { isClaimedBy, isExpired } from '../state/login/login-steps.js';
import type { LoginTarget } from '../state/login/login-url.js';
import type { Logger } from '../telemetry/logger.js';
import type { VirtualWorkspace } from '../vw-client/virtual-workspace.js';
import type { ExternalUrl } from './external-url.js';
import type { HandshakeMetrics } from './handshake-metrics.js';
import type { BackendSpec } from './live-connection.js';
import { csrfToken, isOwnForm, loginIdOf, makeCookie, readCookie, setCookie } from './login-cookie.js';
import type { LoginCookie } from './login-cookie.js';
import { openLogin } from './open-login.js';
import type { OpenLogin } from './open-login.js';
import { renderPage } from './pages/page.js';
import type { Page } from './pages/page.js';
import { STYLE_SOURCE } from './pages/style.js';
import { loginPath } from './paths.js';
import { PageProblem } from './problems.js';

/** All that the login pages need of the world. */
export interface LoginPages {
  readonly external: ExternalUrl;
  readonly states: ConnectionStates;
  readonly installationKey: InstallationKey;
  readonly workspaces: VirtualWorkspace;
  readonly backendApi: (spec: BackendSpec) => BackendApi;
  readonly sanitize: (kubeconfig: string) => ServerCredentials;
  readonly clock: Clock;
  readonly random: (bytes: number) => Uint8Array;
  readonly log: Logger;
  readonly metrics: HandshakeMetrics;
  /** Ends when the server closes. */
  readonly closing: AbortSignal;
}

/** What a content security policy of these pages allows: their own style, and nothing that runs. */
export function contentSecurityPolicy(formTargets: readonly string[] = []): string {
  return [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

export function sendPage(reply: FastifyReply, page: Page, status = 200): FastifyReply {
  return reply
    .code(status)
    .header('content-security-policy', contentSecurityPolicy(page.formTargets))
    .type('text/html; charset=utf-8')
    .send(renderPage(page));
}

/** Sends a browser on after a form or a callback; what it leaves is not kept in its history. */
export function seeOther(reply: FastifyReply, location: string): FastifyReply {
  return reply.redirect(location, 303);
}

/** The cookie of this login that the browser holds, or a new one that is set for its forms. */
export function formCookie(
  pages: LoginPages,
  request: FastifyRequest,
  reply: FastifyReply,
  target: LoginTarget,
): LoginCookie {
  const held = heldCookie(pages, request, target);
  if (held !== undefined) return held;
  const cookie = makeCookie(target, pages.random);
  setCookie(reply, pages.external, target, cookie);
  return cookie;
}

/** A cookie made for another login of the same connection counts as none. */
export function heldCookie(
  pages: LoginPages,
  request: FastifyRequest,
  target: LoginTarget,
): LoginCookie | undefined {
  const held = readCookie(request, pages.external, target.stateName);
  return held !== undefined && loginIdOf(held) === target.id ? held : undefined;
}

/** The parameter `target` of the path. */
export function targetOf(request: FastifyRequest): string {
  const { params } = request;
  const target = typeof params === 'object' && params !== null && 'target' in params ? params.target : '';
  return typeof target === 'string' ? target : '';
}

/** The fields of a form that was sent. */
export function formOf(request: FastifyRequest): Readonly<Record<string, unknown>> {
  const { body } = request;
  return typeof body === 'object' && body !== null ? { ...body } : {};
}

/** A login whose page sent this form: with its cookie, and with the token that only its own page holds. */
export async function openForm(
  pages: LoginPages,
  request: FastifyRequest,
): Promise<{ readonly open: OpenLogin; readonly cookie: LoginCookie }> {
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new PageProblem('bad-form');
  const open = await openLogin(pages, targetOf(request));
  const cookie = heldCookie(pages, request, open.target);
  if (cookie === undefined || !isOwnForm(cookie, formOf(request)['csrf'])) throw new PageProblem('bad-form');
  return { open, cookie };
}

/** The login goes on only while it is not over, and only for the browser that claimed it. */
export function requireClaim(
  pages: LoginPages,
  { open, cookie }: { readonly open: OpenLogin; readonly cookie: LoginCookie },
): void {
  const { login } = open;
  if (login.stage === 'ended' || (login.stage !== 'finished' && isExpired(login, pages.clock.now()))) {
    throw overProblem(pages, open, cookie);
  }
  if (!isClaimedBy(login, cookie)) throw new PageProblem('wrong-browser');
}

/** The page of a login that is over, with the button for another one. */
export function overProblem(pages: LoginPages, open: OpenLogin, cookie: LoginCookie): PageProblem {
  const { login, target } = open;
  const isEnded = login.stage === 'ended' && login.endedReason !== 'LoginExpired';
  return new PageProblem(isEnded ? 'ended' : 'expired', {
    detail: isEnded ? login.endedBecause : undefined,
    way: restartWay(pages, target, cookie),
  });
}

export function restartWay(pages: LoginPages, target: LoginTarget, cookie: LoginCookie) {
  const action = `${loginPath(pages.external, target)}/restart`;
  return { kind: 'restart', action, csrf: csrfToken(cookie) } as const;
}

/** Field names under which a line of the log can be found again. */
export function logFields({ connection }: OpenLogin) {
  return { cluster: connection.ref.cluster, connection: connection.ref.name };
}
