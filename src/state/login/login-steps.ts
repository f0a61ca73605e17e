import type { Login, LoginEndedReason } from '../records.js';
import { CATALOGUE_MS, MAX_WRONG_CODES, PROVIDER_LOGIN_MS } from './login-lifetimes.js';
import { challengeOf, sameHash, secretHash } from './secret-hash.js';
import { normalizeUserCode } from './user-code.js';

/**
 * Why a step is refused.
 * - `expired`, `ended`, `finished`: the login is over
 * - `wrong-stage`: not now; nothing was compared
 * - `wrong-secret`: verifier, code, cookie or nonce is not the right one
 */
export type Refusal = 'expired' | 'ended' | 'finished' | 'wrong-stage' | 'wrong-secret';

/** The login after a step, or why there is none. A refusal with a `login` must be stored too. */
export type Step =
  | { readonly ok: true; readonly login: Login }
  | { readonly ok: false; readonly refusal: Refusal; readonly login?: Login };

/** Milliseconds since the epoch. */
type Instant = number;

/** The id in a URL names this login. */
export function isNamedBy(login: Login, id: string): boolean {
  return sameHash(login.idHash, secretHash(id));
}

/** The cookie is the one that the login was claimed with. */
export function isClaimedBy(login: Login, cookie: string): boolean {
  return sameHash(login.cookieHash, secretHash(cookie));
}

/** Its time is over, and with it every further step. A login that is `ended` does not expire any more. */
export function isExpired(login: Login, now: Instant): boolean {
  return login.stage !== 'ended' && !(Date.parse(login.expiresAt) > now);
}

/** An expired login ends; any other one stays the same object. Finished logins stay finished. */
export function expire(login: Login, now: Instant): Login {
  if (login.stage === 'finished' || !isExpired(login, now)) return login;
  return ended(login, 'LoginExpired', 'the login was not finished in time');
}

/** First visit with the plugin's verifier: binds the login to the browser that gets this cookie. */
export function claimWithVerifier(
  login: Login,
  proof: { readonly verifier: string; readonly cookie: string; readonly picker?: Login['picker'] },
  now: Instant,
): Step {
  const over = whyOver(login, now);
  if (over !== undefined) return { ok: false, refusal: over };
  if (login.stage !== 'awaited') return { ok: false, refusal: 'wrong-stage' };
  if (!sameHash(login.challenge, challengeOf(proof.verifier))) return { ok: false, refusal: 'wrong-secret' };
  return { ok: true, login: claimed(login, proof.cookie, proof.picker) };
}

/** The typed code of a login without challenge. The fifth wrong one ends the login. */
export function claimWithCode(
  login: Login,
  proof: { readonly code: string; readonly cookie: string },
  now: Instant,
): Step {
  const over = whyOver(login, now);
  if (over !== undefined) return { ok: false, refusal: over };
  if (login.stage !== 'awaited' || login.challenge !== undefined)
    return { ok: false, refusal: 'wrong-stage' };
  if (sameHash(login.userCodeHash, secretHash(normalizeUserCode(proof.code)))) {
    return { ok: true, login: claimed(login, proof.cookie, undefined) };
  }
  const counted = { ...login, wrongCodes: login.wrongCodes + 1 };
  if (counted.wrongCodes < MAX_WRONG_CODES) return { ok: false, refusal: 'wrong-secret', login: counted };
  const why = `${MAX_WRONG_CODES} wrong codes were typed`;
  return { ok: false, refusal: 'ended', login: ended(counted, 'LoginEnded', why) };
}

/**
 * Sends the claiming browser to the backend. May be repeated (the person went back): the newest nonce counts. The
 * provider's own login gets its time once, from the first redirect.
 */
export function redirectToBackend(
  login: Login,
  secrets: { readonly cookie: string; readonly nonce: string; readonly sessionId: string },
  now: Instant,
): Step {
  const over = whyOver(login, now);
  if (over !== undefined) return { ok: false, refusal: over };
  if (login.stage === 'awaited') return { ok: false, refusal: 'wrong-stage' };
  if (!isClaimedBy(login, secrets.cookie)) return { ok: false, refusal: 'wrong-secret' };
  const expiresAt =
    login.stage === 'claimed' ? new Date(now + PROVIDER_LOGIN_MS).toISOString() : login.expiresAt;
  return {
    ok: true,
    login: {
      ...login,
      stage: 'redirected',
      nonceHash: secretHash(secrets.nonce),
      sessionHash: secretHash(secrets.sessionId),
      expiresAt,
    },
  };
}

/** Takes the callback's nonce away, so that it is good once; the account is fetched after this is stored. */
export function acceptCallback(
  login: Login,
  secrets: {
    readonly cookie: string;
    readonly nonce: string;
    /** Session that the backend's token names; absent where the token cannot be read. */
    readonly sessionId?: string | undefined;
  },
  now: Instant,
): Step {
  const over = whyOver(login, now);
  if (over !== undefined) return { ok: false, refusal: over };
  if (login.stage !== 'redirected' || login.nonceHash === undefined)
    return { ok: false, refusal: 'wrong-stage' };
  const { cookie, nonce, sessionId } = secrets;
  const isOurSession = sessionId === undefined || sameHash(login.sessionHash, secretHash(sessionId));
  if (!isClaimedBy(login, cookie) || !sameHash(login.nonceHash, secretHash(nonce)) || !isOurSession) {
    return { ok: false, refusal: 'wrong-secret' };
  }
  return { ok: true, login: without(login, 'nonceHash') };
}

/** A callback was accepted and what it leads to is still open. */
export function isAccepted(login: Login): boolean {
  return login.stage === 'redirected' && login.nonceHash === undefined;
}

/**
 * The account of `accepted` is there. Refused when the stored login is not the one any more that was accepted:
 * another login was started, or the same one was sent to the backend again.
 */
export function finish(login: Login, accepted: Login, now: Instant): Step {
  if (login.stage === 'finished') return { ok: false, refusal: 'finished' };
  if (login.stage === 'ended') return { ok: false, refusal: 'ended' };
  if (!isAccepted(login) || !isAccepted(accepted) || !isSameRedirect(login, accepted)) {
    return { ok: false, refusal: 'wrong-stage' };
  }
  const expiresAt = new Date(now + CATALOGUE_MS).toISOString();
  return { ok: true, login: { ...without(login, 'userCodeHash'), stage: 'finished', expiresAt } };
}

/** Ends a login without an account. Over stays over. */
export function endLogin(login: Login, reason: LoginEndedReason, because: string): Login {
  return login.stage === 'finished' || login.stage === 'ended' ? login : ended(login, reason, because);
}

/** Notes that another login is wished for; only after an end without an account. */
export function requestRestart(login: Login, now: Instant): Step {
  const current = expire(login, now);
  if (current.stage === 'finished') return { ok: false, refusal: 'finished' };
  if (current.stage !== 'ended') return { ok: false, refusal: 'wrong-stage' };
  return {
    ok: true,
    login: { ...current, restartRequestedAt: current.restartRequestedAt ?? new Date(now).toISOString() },
  };
}

/** Both are the same login, sent to the backend by the same redirect. */
function isSameRedirect(a: Login, b: Login): boolean {
  return a.idHash === b.idHash && a.cookieHash === b.cookieHash && a.sessionHash === b.sessionHash;
}

function whyOver(login: Login, now: Instant): 'expired' | 'ended' | 'finished' | undefined {
  if (login.stage === 'ended' || login.stage === 'finished') return login.stage;
  return isExpired(login, now) ? 'expired' : undefined;
}

function claimed(login: Login, cookie: string, picker: Login['picker']): Login {
  return {
    ...login,
    stage: 'claimed',
    cookieHash: secretHash(cookie),
    ...(picker === undefined ? {} : { picker }),
  };
}

/** What could still prove something goes away with the end. */
function ended(login: Login, endedReason: LoginEndedReason, endedBecause: string): Login {
  const rest = without(login, 'nonceHash', 'sessionHash', 'cookieHash');
  return { ...rest, stage: 'ended', endedReason, endedBecause };
}

function without(
  login: Login,
  ...keys: ('nonceHash' | 'sessionHash' | 'cookieHash' | 'userCodeHash')[]
): Login {
  const copy = { ...login };
  for (const key of keys) Reflect.deleteProperty(copy, key);
  return copy;
}
