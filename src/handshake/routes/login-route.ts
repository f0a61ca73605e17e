import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { claimWithVerifier, isClaimedBy, isExpired } from '../../state/login/login-steps.js';
import type { Login } from '../../state/records.js';
import { csrfToken, makeCookie, setCookie } from '../login-cookie.js';
import type { LoginCookie } from '../login-cookie.js';
import {
  formCookie,
  heldCookie,
  logFields,
  overProblem,
  seeOther,
  sendPage,
  targetOf,
} from '../login-pages.js';
import type { LoginPages } from '../login-pages.js';
import { openLogin, takeStep } from '../open-login.js';
import type { OpenLogin } from '../open-login.js';
import { codePage } from '../pages/code-page.js';
import { consentPage } from '../pages/consent-page.js';
import type { BackendSecurity } from '../pages/consent-page.js';
import { finishedPage } from '../pages/info-page.js';
import { loginPath } from '../paths.js';
import { PageProblem } from '../problems.js';
import { readWorkspace } from '../workspace-identity.js';
import { catalogue } from './catalogue-routes.js';
import { hostOf } from './host-of.js';

/** `GET /login/<state>.<id>`: whatever the login needs next. Only the plugin's verifier changes anything. */
export function registerLoginRoute(app: FastifyInstance, pages: LoginPages): void {
  app.get('/login/:target', async (request, reply) => {
    const open = await openLogin(pages, targetOf(request));
    const { verifier, pick } = queryOf(request);
    if (verifier === undefined) return showLogin(pages, open, { request, reply });
    // The verifier leaves the address bar at once, whatever comes of it.
    return claim(pages, open, {
      request,
      reply,
      verifier,
      picker: pick === 'terminal' ? 'terminal' : undefined,
    });
  });
}

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

async function claim(
  pages: LoginPages,
  open: OpenLogin,
  exchange: Exchange & { readonly verifier: string; readonly picker: Login['picker'] },
): Promise<FastifyReply> {
  const { request, reply, verifier, picker } = exchange;
  const clean = loginPath(pages.external, open.target);
  if (open.login.stage !== 'awaited') return seeOther(reply, clean);
  const now = pages.clock.now();
  if (isExpired(open.login, now))
    throw overProblem(pages, open, formCookie(pages, request, reply, open.target));
  // A new value: what a browser brought along could have been planted there.
  const cookie = makeCookie(open.target, pages.random);
  const proof = { verifier, cookie, ...(picker === undefined ? {} : { picker }) };
  const { step } = await takeStep(pages.states, open, (login) => claimWithVerifier(login, proof, now));
  if (!step.ok) {
    if (step.refusal === 'wrong-secret') throw new PageProblem('wrong-verifier');
    return seeOther(reply, clean);
  }
  pages.metrics.login('claimed');
  pages.log.info(logFields(open), 'login claimed');
  setCookie(reply, pages.external, open.target, cookie);
  return seeOther(reply, clean);
}

async function showLogin(pages: LoginPages, open: OpenLogin, exchange: Exchange): Promise<FastifyReply> {
  const { request, reply } = exchange;
  const { login, target } = open;
  if (login.stage === 'finished') return showFinished(pages, open, exchange);
  if (login.stage === 'ended' || isExpired(login, pages.clock.now())) {
    throw overProblem(pages, open, formCookie(pages, request, reply, target));
  }
  if (login.stage !== 'awaited') {
    const cookie = heldCookie(pages, request, target);
    if (cookie === undefined || !isClaimedBy(login, cookie)) throw new PageProblem('wrong-browser');
    return sendPage(reply, consentPage(await consentView(pages, open, cookie)));
  }
  if (login.challenge !== undefined) throw new PageProblem('open-from-terminal');
  const cookie = formCookie(pages, request, reply, target);
  const action = `${loginPath(pages.external, target)}/code`;
  const page = codePage({ action, csrf: csrfToken(cookie), connection: open.connection.ref.name });
  return sendPage(reply, page);
}

/** Whoever did not make this login learns only that it is done. */
async function showFinished(pages: LoginPages, open: OpenLogin, exchange: Exchange): Promise<FastifyReply> {
  const { request, reply } = exchange;
  const cookie = heldCookie(pages, request, open.target);
  const mine = cookie !== undefined && isClaimedBy(open.login, cookie);
  if (!mine || isExpired(open.login, pages.clock.now()) || open.login.picker === 'terminal') {
    return sendPage(reply, finishedPage());
  }
  return sendPage(reply, await catalogue(pages, { open, cookie }));
}

async function consentView(pages: LoginPages, open: OpenLogin, cookie: LoginCookie) {
  const { connection, login, target } = open;
  const workspace = await readWorkspace(open.workspace);
  return {
    action: `${loginPath(pages.external, target)}/continue`,
    csrf: csrfToken(cookie),
    host: hostOf(connection.backend.url),
    security: securityOf(connection.backend),
    prettyName: connection.prettyName,
    workspacePath: workspace.path,
    connection: connection.ref.name,
    account: connection.backend.account,
    provenByTerminal: login.challenge !== undefined,
    again: login.stage === 'redirected',
  };
}

function securityOf(backend: {
  readonly url: string;
  readonly caBundle: string | undefined;
}): BackendSecurity {
  if (!backend.url.toLowerCase().startsWith('https:')) return 'none';
  return backend.caBundle === undefined ? 'system-authorities' : 'own-authorities';
}

function queryOf(request: FastifyRequest): { readonly verifier?: string; readonly pick?: string } {
  const { query } = request;
  if (typeof query !== 'object' || query === null) return {};
  const verifier = 'verifier' in query ? query.verifier : undefined;
  const pick = 'pick' in query ? query.pick : undefined;
  return {
    ...(typeof verifier === 'string' ? { verifier } : {}),
    ...(typeof pick === 'string' ? { pick } : {}),
  };
}
