import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { untrustedText } from '../../api/untrusted-text.js';
import { BackendError } from '../../backend/errors.js';
import type { BackendApi } from '../../backend/http/backend-api.js';
import type { ProviderInfo } from '../../backend/http/provider-info.js';
import { KubeError } from '../../kube/errors.js';
import { MAX_WRONG_CODES } from '../../state/login/login-lifetimes.js';
import {
  claimWithCode,
  isNamedBy,
  redirectToBackend,
  requestRestart,
} from '../../state/login/login-steps.js';
import { parseLoginTarget } from '../../state/login/login-url.js';
import type { BackendGate } from '../backend-gate.js';
import { withDeadline } from '../deadline.js';
import { readConnection } from '../live-connection.js';
import { csrfToken, makeCookie, setCookie } from '../login-cookie.js';
import {
  formOf,
  logFields,
  openForm,
  overProblem,
  requireClaim,
  seeOther,
  sendPage,
} from '../login-pages.js';
import type { LoginPages } from '../login-pages.js';
import { readState, refusalProblem, takeStep } from '../open-login.js';
import type { OpenLogin } from '../open-login.js';
import { codePage } from '../pages/code-page.js';
import { restartedPage } from '../pages/info-page.js';
import { callbackUrl, loginPath } from '../paths.js';
import { PageProblem } from '../problems.js';
import { readWorkspace } from '../workspace-identity.js';

/** Requests a minute from one address that try codes, start logins or make us ask a backend. */
const FEW = { rateLimit: { max: 12, timeWindow: '1 minute' } };
const PROVIDER_DOCUMENT_MS = 20_000;
/** A restarted login is looked for this often, at this interval, before the page says where it will appear. */
const RESTART_LOOKS = 12;
const RESTART_INTERVAL_MS = 500;

/** The posts of the login page: code, continue, restart. */
export function registerFormRoutes(app: FastifyInstance, pages: LoginPages, gate: BackendGate): void {
  app.post('/login/:target/code', { config: FEW }, (request, reply) => postCode(pages, request, reply));
  app.post('/login/:target/continue', { config: FEW }, (request, reply) =>
    postContinue(pages, gate, request, reply),
  );
  app.post('/login/:target/restart', { config: FEW }, (request, reply) => postRestart(pages, request, reply));
}

async function postCode(pages: LoginPages, request: FastifyRequest, reply: FastifyReply) {
  const { open, cookie: held } = await openForm(pages, request);
  const { code } = formOf(request);
  const cookie = makeCookie(open.target, pages.random);
  const proof = { code: typeof code === 'string' ? code : '', cookie };
  const taken = await takeStep(pages.states, open, (login) => claimWithCode(login, proof, pages.clock.now()));
  const path = loginPath(pages.external, open.target);
  if (taken.step.ok) {
    pages.metrics.login('claimed');
    pages.log.info(logFields(open), 'login claimed');
    setCookie(reply, pages.external, open.target, cookie);
    return seeOther(reply, path);
  }
  if (taken.step.refusal === 'ended' || taken.step.refusal === 'expired') {
    throw overProblem(pages, { ...open, login: taken.login }, held);
  }
  if (taken.step.refusal !== 'wrong-secret') throw refusalProblem(taken.step.refusal);
  pages.metrics.login('wrong-code');
  const page = codePage({
    action: `${path}/code`,
    csrf: csrfToken(held),
    connection: open.connection.ref.name,
    triesLeft: MAX_WRONG_CODES - taken.login.wrongCodes,
  });
  return sendPage(reply, page, 403);
}

async function postContinue(
  pages: LoginPages,
  gate: BackendGate,
  request: FastifyRequest,
  reply: FastifyReply,
) {
  const form = await openForm(pages, request);
  const { open, cookie } = form;
  if (open.login.stage === 'finished') return seeOther(reply, loginPath(pages.external, open.target));
  requireClaim(pages, form);
  // Without it the callback could not say whose account to ask for.
  await readWorkspace(open.workspace);
  const { cluster } = open.connection.ref;
  const { backend, info } = await gate.pass(cluster, () => askProvider(pages, open));
  const nonce = secret(pages);
  const sessionId = secret(pages);
  const location = backend.authorizeUrl(info, {
    redirectUrl: callbackUrl(pages.external, open.target.stateName, nonce),
    sessionId,
  });
  if (new URL(location).host !== new URL(open.connection.backend.url).host) {
    throw new PageProblem('backend-unavailable', { detail: 'It wants people to log in on another host.' });
  }
  const { step } = await takeStep(pages.states, open, (login) =>
    redirectToBackend(login, { cookie, nonce, sessionId }, pages.clock.now()),
  );
  if (!step.ok) throw refusalProblem(step.refusal);
  pages.metrics.login('redirected');
  pages.log.info(logFields(open), 'browser sent to the backend');
  return seeOther(reply, location);
}

async function askProvider(
  pages: LoginPages,
  open: OpenLogin,
): Promise<{ readonly backend: BackendApi; readonly info: ProviderInfo }> {
  try {
    const backend = pages.backendApi(open.connection.backend);
    const limits = { ms: PROVIDER_DOCUMENT_MS, parent: pages.closing };
    const info = await withDeadline(pages.clock, limits, (signal) => backend.provider(signal));
    return { backend, info };
  } catch (error) {
    if (!(error instanceof BackendError || error instanceof KubeError)) throw error;
    pages.metrics.login('backend-unavailable');
    throw new PageProblem('backend-unavailable', {
      detail: untrustedText(error.message, 600),
      way: { kind: 'login-page', href: loginPath(pages.external, open.target) },
      cause: error,
    });
  }
}

async function postRestart(pages: LoginPages, request: FastifyRequest, reply: FastifyReply) {
  const { open } = await openForm(pages, request);
  const { step } = await takeStep(pages.states, open, (login) => requestRestart(login, pages.clock.now()));
  // A login that still lives needs no other one.
  if (!step.ok) return seeOther(reply, loginPath(pages.external, open.target));
  pages.metrics.login('restart-requested');
  pages.log.info(logFields(open), 'another login asked for');
  const next = await nextLogin(pages, open);
  return next === undefined
    ? sendPage(reply, restartedPage(open.connection.ref.name), 202)
    : seeOther(reply, next);
}

/** Path of the login that replaces this one, as soon as its id is published and fits what is stored. */
async function nextLogin(pages: LoginPages, open: OpenLogin): Promise<string | undefined> {
  for (let look = 0; look < RESTART_LOOKS && !pages.closing.aborted; look++) {
    await pages.clock.sleep(RESTART_INTERVAL_MS);
    const state = await readState(pages.states, open.target.stateName);
    const login = state?.value.login;
    if (login === undefined || login.idHash === open.login.idHash) continue;
    const { publishedUrl } = await readConnection(open.workspace, open.connection.ref);
    // Status can be written by others: only the path's last segment is taken, and only if it names that login.
    const target = parseLoginTarget(publishedUrl?.split('/').at(-1) ?? '');
    if (target?.stateName === open.target.stateName && isNamedBy(login, target.id)) {
      return loginPath(pages.external, target);
    }
  }
  return undefined;
}

function secret(pages: LoginPages): string {
  return Buffer.from(pages.random(32)).toString('base64url');
}
