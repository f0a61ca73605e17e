import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BINDINGS } from '../../api/group.js';
import type { Offer } from '../../api/offer.js';
import { ApiError, isStatus } from '../../kube/errors.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import { isClaimedBy, isExpired } from '../../state/login/login-steps.js';
import { bindableOffers, bindingObject, readCatalogueForm } from '../catalogue-form.js';
import type { WantedBinding } from '../catalogue-form.js';
import { part, text } from '../live-connection.js';
import { csrfToken } from '../login-cookie.js';
import type { LoginCookie } from '../login-cookie.js';
import { formOf, heldCookie, logFields, openForm, seeOther, sendPage, targetOf } from '../login-pages.js';
import type { LoginPages } from '../login-pages.js';
import { openLogin } from '../open-login.js';
import type { OpenLogin } from '../open-login.js';
import { cataloguePage } from '../pages/catalogue-page.js';
import type { Page } from '../pages/page.js';
import { progressPage } from '../pages/progress-page.js';
import type { BindingProgress } from '../pages/progress-page.js';
import { loginPath } from '../paths.js';
import { PageProblem } from '../problems.js';
import { readWorkspace } from '../workspace-identity.js';
import { hostOf } from './host-of.js';

/** Bindings of one workspace that are looked at. */
const MAX_BINDINGS = 500;
const SOME = { rateLimit: { max: 30, timeWindow: '1 minute' } };

/** A finished login and the cookie of the browser that made it. */
interface Session {
  readonly open: OpenLogin;
  readonly cookie: LoginCookie;
}

/** Choosing from the offers after a login, and how far the chosen ones are. */
export function registerCatalogueRoutes(app: FastifyInstance, pages: LoginPages): void {
  app.post('/login/:target/offers', { config: SOME }, async (request, reply) => {
    const session = await openForm(pages, request);
    requireSession(pages, session);
    return postOffers(pages, session, { request, reply });
  });
  app.get('/login/:target/progress', async (request, reply) => {
    const open = await openLogin(pages, targetOf(request));
    const cookie = heldCookie(pages, request, open.target);
    if (cookie === undefined) throw new PageProblem('wrong-browser');
    requireSession(pages, { open, cookie });
    return sendPage(reply, await progress(pages, open, clashesOf(request)));
  });
}

/** The page with what can be chosen now. */
export async function catalogue(
  pages: LoginPages,
  { open, cookie }: Session,
  nothingChosen = false,
): Promise<Page> {
  const { path } = await readWorkspace(open.workspace);
  const taken = new Set((await bindingsOf(open)).map((binding) => text(part(binding, 'spec'), 'template')));
  const all = bindableOffers(offersOf(open));
  const login = loginPath(pages.external, open.target);
  return cataloguePage({
    action: `${login}/offers`,
    csrf: csrfToken(cookie),
    progressHref: `${login}/progress`,
    host: hostOf(open.connection.backend.url),
    workspacePath: path,
    connection: open.connection.ref.name,
    offers: all.filter(({ template }) => !taken.has(template)),
    taken: taken.size,
    nothingChosen,
    startedByTerminal: open.login.challenge !== undefined,
  });
}

function requireSession(pages: LoginPages, { open, cookie }: Session): void {
  if (!isClaimedBy(open.login, cookie)) throw new PageProblem('wrong-browser');
  if (open.login.stage !== 'finished') throw new PageProblem('overtaken');
  if (isExpired(open.login, pages.clock.now())) throw new PageProblem('session-over');
}

async function postOffers(
  pages: LoginPages,
  session: Session,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { open } = session;
  const wanted = readCatalogueForm(formOf(request), offersOf(open));
  if (wanted.length === 0) return sendPage(reply, await catalogue(pages, session, true), 400);
  const clashes: string[] = [];
  for (const binding of wanted) {
    const outcome = await createBinding(open, binding);
    if (outcome === 'clash') clashes.push(binding.template);
    if (outcome === 'created') {
      pages.log.info({ ...logFields(open), binding: binding.template }, 'binding created for an offer');
    }
  }
  const query = clashes.map((name) => `clash=${encodeURIComponent(name)}`).join('&');
  const path = `${loginPath(pages.external, open.target)}/progress`;
  return seeOther(reply, query === '' ? path : `${path}?${query}`);
}

/** A binding of that name for the same offer is what was wished for; its consent is its owner's to change. */
async function createBinding(
  { workspace, connection }: OpenLogin,
  wanted: WantedBinding,
): Promise<'created' | 'there' | 'clash'> {
  try {
    await workspace.create(BINDINGS, bindingObject(connection.ref.name, wanted));
    return 'created';
  } catch (error) {
    if (!isStatus(error, 409)) throw refusedBy(error);
  }
  try {
    const spec = part(await workspace.get(BINDINGS, { name: wanted.template }), 'spec');
    const same =
      text(spec, 'connection') === connection.ref.name && text(spec, 'template') === wanted.template;
    return same ? 'there' : 'clash';
  } catch (error) {
    throw new PageProblem('kcp-unavailable', { cause: error });
  }
}

/** What admission says is worth reading; that a server fails is not. */
function refusedBy(error: unknown): PageProblem {
  const isAnswer =
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
  return isAnswer
    ? new PageProblem('kcp-refused', { detail: error.message, cause: error })
    : new PageProblem('kcp-unavailable', { cause: error });
}

async function progress(pages: LoginPages, open: OpenLogin, clashes: readonly string[]): Promise<Page> {
  const { path } = await readWorkspace(open.workspace);
  const bindings = await bindingsOf(open);
  const taken = new Set(bindings.map((binding) => text(part(binding, 'spec'), 'template')));
  const offers = bindableOffers(offersOf(open));
  return progressPage({
    workspacePath: path,
    host: hostOf(open.connection.backend.url),
    bindings: bindings.map(progressOf),
    clashes: offers.map(({ template }) => template).filter((name) => clashes.includes(name)),
    catalogueHref: loginPath(pages.external, open.target),
    moreOffers: offers.some(({ template }) => !taken.has(template)),
  });
}

/** Bindings of this connection, read live. */
async function bindingsOf({ workspace, connection }: OpenLogin): Promise<readonly KubeObject[]> {
  try {
    const { items } = await workspace.list(BINDINGS, { limit: MAX_BINDINGS });
    return items.filter((binding) => text(part(binding, 'spec'), 'connection') === connection.ref.name);
  } catch (error) {
    if (error instanceof ApiError) throw new PageProblem('kcp-unavailable', { cause: error });
    throw error;
  }
}

function progressOf(binding: KubeObject): BindingProgress {
  const status = part(binding, 'status');
  const list = status?.['conditions'];
  const conditions = Array.isArray(list) ? list.filter(isJsonObject) : [];
  const ready = conditions.find((condition) => condition['type'] === 'Ready');
  return {
    name: binding.metadata.name,
    phase: text(status, 'phase') ?? 'Pending',
    ready: ready?.['status'] === 'True',
    message: text(ready, 'message') ?? '',
  };
}

function offersOf({ state }: OpenLogin): readonly Offer[] {
  return state.value.account?.offers ?? [];
}

function clashesOf(request: FastifyRequest): readonly string[] {
  const { query } = request;
  const value: unknown = typeof query === 'object' && query !== null && 'clash' in query ? query.clash : [];
  return (Array.isArray(value) ? value : [value]).filter((name) => typeof name === 'string');
}
