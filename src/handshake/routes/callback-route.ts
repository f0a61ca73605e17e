import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseCallback } from '../../backend/http/callback.js';
import type { CallbackFailure } from '../../backend/http/callback.js';
import { acceptCallback, endLogin, finish, isAccepted, isClaimedBy } from '../../state/login/login-steps.js';
import type { Account, Login, LoginEndedReason } from '../../state/records.js';
import type { BackendGate } from '../backend-gate.js';
import { withDeadline } from '../deadline.js';
import { fetchAccount } from '../fetch-account.js';
import type { AccountOutcome } from '../fetch-account.js';
import { loginIdOf, readCookie } from '../login-cookie.js';
import type { LoginCookie } from '../login-cookie.js';
import { logFields, overProblem, restartWay, seeOther, targetOf } from '../login-pages.js';
import type { LoginPages } from '../login-pages.js';
import { openLogin, takeStep } from '../open-login.js';
import type { OpenLogin } from '../open-login.js';
import { loginPath } from '../paths.js';
import { PageProblem } from '../problems.js';
import type { ProblemCode } from '../problems.js';
import { readWorkspace } from '../workspace-identity.js';

/** Milliseconds for templates and the bind request together; a backend may take ten seconds for an account. */
const ACCOUNT_MS = 60_000;
const SOME = { rateLimit: { max: 30, timeWindow: '1 minute' } };

/** `GET /callback/<state>`: where a backend sends the browser back to, with a token or an error. */
export function registerCallbackRoute(app: FastifyInstance, pages: LoginPages, gate: BackendGate): void {
  app.get('/callback/:target', { config: SOME }, (request, reply) => callback(pages, gate, request, reply));
}

async function callback(pages: LoginPages, gate: BackendGate, request: FastifyRequest, reply: FastifyReply) {
  const stateName = targetOf(request);
  const cookie = readCookie(request, pages.external, stateName);
  if (cookie === undefined) throw new PageProblem('wrong-browser');
  const open = await openLogin(pages, `${stateName}.${loginIdOf(cookie)}`);
  if (open.login.stage === 'ended') throw overProblem(pages, open, cookie);
  if (!isClaimedBy(open.login, cookie)) throw new PageProblem('wrong-browser');
  const page = loginPath(pages.external, open.target);
  // The same callback again: its work is done, or being done.
  if (open.login.stage === 'finished' || isAccepted(open.login)) return seeOther(reply, page);
  // Before anything is taken: whoever finds the gate closed may try again.
  await gate.pass(open.connection.ref.cluster, () => takeAnswer(pages, open, cookie, request.query));
  return seeOther(reply, page);
}

/** Takes the token, or the refusal, that the backend sent the browser back with. */
async function takeAnswer(
  pages: LoginPages,
  open: OpenLogin,
  cookie: LoginCookie,
  query: unknown,
): Promise<void> {
  // Read before the nonce is taken away, so that what fails here can be tried again.
  const workspace = await readWorkspace(open.workspace);
  const key = await pages.installationKey.load();
  const answer = parseCallback(asRecord(query));
  const accepted = await accept(pages, open, {
    cookie,
    nonce: answer.nonce ?? '',
    sessionId: answer.kind === 'token' ? answer.sessionId : undefined,
  });
  if (answer.kind === 'failure') {
    await refuse(pages, accepted, { cookie, answer });
    return;
  }
  const outcome = await withDeadline(pages.clock, { ms: ACCOUNT_MS, parent: pages.closing }, (signal) =>
    fetchAccount({
      backend: pages.backendApi(open.connection.backend),
      token: answer.token,
      connection: open.connection,
      workspace,
      key,
      sanitize: pages.sanitize,
      clock: pages.clock,
      signal,
    }),
  );
  await settle(pages, accepted, { cookie, outcome });
}

async function accept(
  pages: LoginPages,
  open: OpenLogin,
  secrets: { readonly cookie: string; readonly nonce: string; readonly sessionId: string | undefined },
): Promise<OpenLogin> {
  const taken = await takeStep(pages.states, open, (login) =>
    acceptCallback(login, secrets, pages.clock.now()),
  );
  if (taken.step.ok) return { ...open, state: taken.state, login: taken.login };
  if (taken.step.refusal === 'expired' || taken.step.refusal === 'ended') {
    throw overProblem(pages, { ...open, login: taken.login }, secrets.cookie);
  }
  throw new PageProblem('wrong-nonce', {
    way: { kind: 'login-page', href: loginPath(pages.external, open.target) },
  });
}

/** The provider, or the person at the provider's login, said no. */
async function refuse(
  pages: LoginPages,
  open: OpenLogin,
  { cookie, answer }: { readonly cookie: LoginCookie; readonly answer: CallbackFailure },
): Promise<never> {
  const because = answer.description === '' ? answer.error : `${answer.error}: ${answer.description}`;
  await end(pages, open, { reason: 'LoginRefused', because });
  throw new PageProblem('login-refused', { detail: because, way: restartWay(pages, open.target, cookie) });
}

/** Stores what came of it. Returns only when there is an account. */
async function settle(
  pages: LoginPages,
  open: OpenLogin,
  { cookie, outcome }: { readonly cookie: LoginCookie; readonly outcome: AccountOutcome },
): Promise<void> {
  if (outcome.kind === 'unavailable') {
    pages.metrics.login('backend-unavailable');
    pages.log.warn({ ...logFields(open), because: outcome.because }, 'the backend gave no account yet');
    throw new PageProblem('backend-unavailable', {
      detail: outcome.because,
      way: { kind: 'login-page', href: loginPath(pages.external, open.target) },
    });
  }
  if (outcome.kind === 'ended') {
    await end(pages, open, outcome);
    const code: ProblemCode = outcome.reason === 'NoOffers' ? 'no-offers' : 'backend-refused';
    throw new PageProblem(code, { detail: outcome.because, way: restartWay(pages, open.target, cookie) });
  }
  const { step } = await takeStep(pages.states, open, (login, state) => {
    const finished = finish(login, open.login, pages.clock.now());
    return finished.ok ? { ...finished, account: replaced(state.account, outcome.account) } : finished;
  });
  if (!step.ok) throw new PageProblem('overtaken');
  pages.metrics.login('finished');
  pages.log.info({ ...logFields(open), offers: outcome.account.offers.length }, 'login finished');
}

/** What a worker has learnt stays: it shows whether the new credentials lead to the same account. */
function replaced(before: Account | undefined, account: Account): Account {
  const uid = before?.contractNamespaceUid;
  return uid === undefined ? account : { ...account, contractNamespaceUid: uid };
}

const OUTCOMES = {
  LoginExpired: 'refused',
  LoginEnded: 'refused',
  LoginRefused: 'refused',
  NoOffers: 'no-offers',
  BackendRefused: 'backend-refused',
} as const;

async function end(
  pages: LoginPages,
  open: OpenLogin,
  { reason, because }: { readonly reason: LoginEndedReason; readonly because: string },
): Promise<void> {
  pages.metrics.login(OUTCOMES[reason]);
  pages.log.warn({ ...logFields(open), reason, because }, 'login ended');
  await takeStep(pages.states, open, (login) => ({
    ok: true,
    // Sent to the backend again meanwhile: that attempt goes on.
    login: isSameAttempt(login, open.login) ? endLogin(login, reason, because) : login,
  }));
}

function isSameAttempt(login: Login, accepted: Login): boolean {
  return isAccepted(login) && login.sessionHash === accepted.sessionHash;
}

function asRecord(query: unknown): Readonly<Record<string, unknown>> {
  return typeof query === 'object' && query !== null ? { ...query } : {};
}
