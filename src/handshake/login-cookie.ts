import { createHmac } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { LoginTarget } from '../state/login/login-url.js';
import { sameHash, secretHash } from '../state/login/secret-hash.js';
import type { ExternalUrl } from './external-url.js';

/** Seconds that a browser keeps the cookie: a login, the provider's own login and the catalogue. */
const MAX_AGE = 2 * 60 * 60;
const VALUE = /^([A-Za-z0-9_-]{22})\.[A-Za-z0-9_-]{43}$/;

/** `<login id>.<256 random bits>`; the id lets a callback find its way back to the login's page. */
export type LoginCookie = string;

/** A new cookie for a login. */
export function makeCookie(target: LoginTarget, random: (bytes: number) => Uint8Array): LoginCookie {
  return `${target.id}.${Buffer.from(random(32)).toString('base64url')}`;
}

/** The cookie that the browser sent for this login, undefined where there is none of our making. */
export function readCookie(
  request: FastifyRequest,
  external: ExternalUrl,
  stateName: string,
): LoginCookie | undefined {
  const value = request.cookies[cookieName(external, stateName)];
  return value !== undefined && VALUE.test(value) ? value : undefined;
}

/** Id of the login that the cookie was made for. */
export function loginIdOf(cookie: LoginCookie): string {
  return VALUE.exec(cookie)?.[1] ?? '';
}

/** Sets the cookie for the two paths that need it, and no others. */
export function setCookie(
  reply: FastifyReply,
  external: ExternalUrl,
  target: LoginTarget,
  cookie: LoginCookie,
): void {
  const paths = [`/login/${target.stateName}.${target.id}`, `/callback/${target.stateName}`];
  for (const path of paths) {
    reply.setCookie(cookieName(external, target.stateName), cookie, {
      path: `${external.prefix}${path}`,
      httpOnly: true,
      secure: external.https,
      // Lax, not Strict: the backend's redirect to the callback comes from another site.
      sameSite: 'lax',
      maxAge: MAX_AGE,
    });
  }
}

/** Value of the hidden field of all forms that are shown to the holder of a cookie. */
export function csrfToken(cookie: LoginCookie): string {
  return createHmac('sha256', cookie).update('csrf').digest('base64url');
}

/** The form was shown to the holder of this cookie. */
export function isOwnForm(cookie: LoginCookie, sent: unknown): boolean {
  return typeof sent === 'string' && sameHash(secretHash(csrfToken(cookie)), secretHash(sent));
}

function cookieName(external: ExternalUrl, stateName: string): string {
  const name = `kube-bind-${stateName.replace('connection-', '')}`;
  return external.https ? `__Secure-${name}` : name;
}
