import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listBindings } from '../objects.js';
import { isYes } from '../output/prompt.js';
import { printable } from '../output/printable.js';
import type { Binding, ClaimState, Connection, Offer } from '../typed-objects.js';
import { claimName } from './client-claims.js';
import { decideClaims, unknownClaims, type Acceptance } from './consent.js';
import { offerLines, offerNames, readChoice, selectOffers } from './offers.js';
import type { WantedBinding } from './plan-bindings.js';
import { isLeaving } from './same-backend.js';

/** What the flags say about templates. */
export interface TemplateWish {
  /** `--template`, in order. */
  readonly templates: readonly string[];
  /** `--name` */
  readonly name: string | undefined;
  readonly acceptance: Acceptance;
}

/** What is to be bound: templates, or the bindings that are there already. */
export type TemplateChoice =
  | { readonly kind: 'wanted'; readonly wanted: readonly WantedBinding[] }
  | { readonly kind: 'adopted'; readonly bindings: readonly Binding[] };

const WATCH_PAGE_MS = 1500;

/**
 * Settles what is bound: by `--template`, by what was already picked (an earlier run, the login page's
 * catalogue), or by asking.
 *
 * @throws PluginError NOT_FOUND, USAGE, DECLINED
 */
export async function chooseTemplates(
  context: CommandContext,
  session: Session,
  connection: Connection,
  wish: TemplateWish,
): Promise<TemplateChoice> {
  const offers = connection.status?.offers ?? [];
  if (wish.templates.length > 0) {
    return { kind: 'wanted', wanted: await consentTo(context, selectOffers(offers, wish.templates), wish) };
  }
  const { name } = connection.metadata;
  const existing = await bindingsOf(context, session, name);
  const unfinished = existing.filter((binding) => !isReady(binding));
  if (unfinished.length > 0 || (existing.length > 0 && !context.prompt.available)) {
    return { kind: 'adopted', bindings: existing };
  }
  const bound = new Set(existing.map((binding) => binding.spec.template));
  const open = offers.filter((offer) => !bound.has(offer.template));
  if (open.length === 0 && existing.length > 0) return { kind: 'adopted', bindings: existing };
  if (!context.prompt.available) {
    throw new PluginError({
      code: 'USAGE',
      message: `which template? The provider offers: ${offerNames(open)}`,
      remedy: 'say it with --template NAME (repeatable)',
    });
  }
  return askOrAdopt(context, session, { connection: name, known: existing, offers: open, wish });
}

interface Question {
  readonly connection: string;
  readonly known: readonly Binding[];
  readonly offers: readonly Offer[];
  readonly wish: TemplateWish;
}

/** Asks at the terminal; meanwhile the user may pick in the page's catalogue, which ends the question. */
async function askOrAdopt(
  context: CommandContext,
  session: Session,
  question: Question,
): Promise<TemplateChoice> {
  const picked = new AbortController();
  const answered = new AbortController();
  const fromPage = watchForBindings(context, session, question, answered.signal).then((bindings) => {
    picked.abort();
    return bindings;
  });
  const asking = { ...context, signal: AbortSignal.any([context.signal, picked.signal]) };
  try {
    const offers = await askForOffers(asking, question.offers);
    answered.abort();
    if (offers.length === 0 && question.known.length > 0)
      return { kind: 'adopted', bindings: question.known };
    if (offers.length === 0) {
      throw new PluginError({
        code: 'DECLINED',
        message: 'no template was chosen, so nothing is bound',
        remedy: 'the connection stays; run the command again to choose',
      });
    }
    return { kind: 'wanted', wanted: await consentTo(context, offers, question.wish) };
  } catch (error) {
    if (!picked.signal.aborted || context.signal.aborted) throw error;
    const bindings = await fromPage;
    context.report.note('\nThe choice was made on the login page');
    return { kind: 'adopted', bindings };
  } finally {
    answered.abort();
    await fromPage.catch(() => undefined);
  }
}

/** Resolves when a binding of the connection appears that was not known; rejects when aborted. */
async function watchForBindings(
  context: CommandContext,
  session: Session,
  question: Question,
  stop: AbortSignal,
): Promise<Binding[]> {
  const known = new Set(question.known.map((binding) => binding.metadata.name));
  const signal = AbortSignal.any([context.signal, stop]);
  for (;;) {
    await context.effects.clock.sleep(WATCH_PAGE_MS, signal);
    const bindings = await bindingsOf(context, session, question.connection).catch(() => []);
    signal.throwIfAborted();
    if (bindings.some((binding) => !known.has(binding.metadata.name))) return bindings;
  }
}

async function askForOffers(context: CommandContext, offers: readonly Offer[]): Promise<Offer[]> {
  context.report.progress.line('The provider offers:');
  for (const line of offerLines(offers)) context.report.progress.line(line);
  for (;;) {
    const answer = readChoice(
      await context.prompt.ask('Bind which? (numbers or names, Enter for none) ', context.signal),
      offers,
    );
    if (answer.kind === 'nothing') return [];
    if (answer.kind === 'chosen') return answer.offers;
    context.report.progress.line(`There is no ${JSON.stringify(printable(answer.part, 60))} in the list.`);
  }
}

/** The answers to each offer's claims: by flag, else by asking; where nobody can be asked they are rejected. */
async function consentTo(
  context: CommandContext,
  offers: readonly Offer[],
  wish: TemplateWish,
): Promise<WantedBinding[]> {
  const { acceptance } = wish;
  const unknown = unknownClaims(offers, acceptance);
  if (unknown.length > 0) {
    const asked = new Set(offers.flatMap((offer) => (offer.permissionClaims ?? []).map(claimName)));
    throw new PluginError({
      code: 'NOT_FOUND',
      message: `the chosen templates do not ask for ${unknown.map((name) => printable(name, 60)).join(', ')} (they ask for: ${[...asked].map((name) => printable(name, 60)).join(', ') || 'nothing'})`,
      remedy: 'correct --accept-claims',
    });
  }
  const wanted: WantedBinding[] = [];
  for (const offer of offers) {
    wanted.push({
      template: offer.template,
      name: wish.name,
      claims: await claimsFor(context, offer, acceptance),
    });
  }
  return wanted;
}

async function claimsFor(
  context: CommandContext,
  offer: Offer,
  acceptance: Acceptance,
): Promise<ClaimState[] | undefined> {
  const asked = offer.permissionClaims ?? [];
  if (asked.length === 0) return undefined;
  if (acceptance.kind !== 'unsaid') return decideClaims(offer, acceptance);
  const template = printable(offer.template, 100);
  if (!context.prompt.available) {
    context.report.warn(
      `template ${template} asks for ${asked.map((claim) => printable(claimName(claim), 60)).join(', ')}: not accepted; accept with --accept-claims all or --accept-claims NAMES`,
    );
    return undefined;
  }
  const accepted: string[] = [];
  for (const claim of asked) {
    const selector =
      claim.selector === undefined || claim.selector === '' ? '' : ` (${printable(claim.selector, 200)})`;
    const question = `Template ${template} asks to read and write ${printable(claimName(claim), 60)} of this workspace${selector}. Accept? [y/N] `;
    if (isYes(await context.prompt.ask(question, context.signal))) accepted.push(claimName(claim));
  }
  return decideClaims(offer, accepted.length === 0 ? { kind: 'none' } : { kind: 'named', names: accepted });
}

async function bindingsOf(context: CommandContext, session: Session, connection: string): Promise<Binding[]> {
  const all = (await listBindings(session.client, context.signal)) ?? [];
  return all.filter((binding) => binding.spec.connection === connection && !isLeaving(binding));
}

function isReady(binding: Binding): boolean {
  return (binding.status?.conditions ?? []).some(
    (condition) => condition.type === 'Ready' && condition.status === 'True',
  );
}
