import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { expectReason } from '../../api/testing/expect-reason.js';
import type { Login } from '../records.js';
import { LOGIN_MS, MAX_WRONG_CODES, PROVIDER_LOGIN_MS } from './login-lifetimes.js';
import {
  acceptCallback,
  claimWithCode,
  claimWithVerifier,
  endLogin,
  expire,
  finish,
  isAccepted,
  isClaimedBy,
  isExpired,
  isNamedBy,
  redirectToBackend,
  requestRestart,
} from './login-steps.js';
import type { Step } from './login-steps.js';
import { challengeOf } from './secret-hash.js';
import { startLogin } from './start-login.js';

const NOW = Date.parse('2026-01-02T03:04:05.000Z');
const clock = { now: () => NOW };
let seed = 0;
const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => (seed = (seed * 31 + 7) % 251));

const VERIFIER = 'the-verifier';
const COOKIE = 'the-cookie';

function withChallenge() {
  return startLogin({ clock, random, challenge: challengeOf(VERIFIER) });
}
function withCode() {
  const started = startLogin({ clock, random });
  return { ...started, userCode: started.userCode ?? '' };
}
function done(step: Step): Login {
  if (!step.ok) throw new Error(`refused: ${step.refusal}`);
  return step.login;
}
const claimed = () =>
  done(claimWithVerifier(withChallenge().login, { verifier: VERIFIER, cookie: COOKIE }, NOW));
const redirected = () =>
  done(redirectToBackend(claimed(), { cookie: COOKIE, nonce: 'the-nonce', sessionId: 's' }, NOW));
const accepted = () => done(acceptCallback(redirected(), { cookie: COOKIE, nonce: 'the-nonce' }, NOW));
const finishedAt = (now: number) => {
  const login = accepted();
  return done(finish(login, login, now));
};
const finished = () => finishedAt(NOW);

describe('startLogin', () => {
  it('keeps no secret, only hashes', () => {
    const { login, id, userCode } = withCode();
    const stored = JSON.stringify(login);
    expect(stored).not.toContain(id);
    expect(stored).not.toContain(userCode);
    expect(stored).not.toContain(userCode.replace('-', ''));
  });

  it('gives an id of 128 bits and a readable code', () => {
    const { id, userCode } = withCode();
    expect(id).toMatch(/^[\w-]{22}$/);
    expect(userCode).toMatch(/^[B-DF-HJ-NP-TV-XZ]{4}-[B-DF-HJ-NP-TV-XZ]{4}$/);
  });

  it('gives no code where there is a challenge', () => {
    expect(withChallenge().userCode).toBeUndefined();
    expect(withChallenge().login.userCodeHash).toBeUndefined();
  });

  it('is named by its id alone', () => {
    const { login, id } = withCode();
    expect(isNamedBy(login, id)).toBe(true);
    expect(isNamedBy(login, id.slice(1))).toBe(false);
    expect(isNamedBy(login, '')).toBe(false);
  });
});

describe('claiming', () => {
  it('binds the login to the cookie of the browser that brought the verifier', () => {
    expect(claimed().stage).toBe('claimed');
    expect(isClaimedBy(claimed(), COOKIE)).toBe(true);
    expect(isClaimedBy(claimed(), 'another')).toBe(false);
  });

  it('takes the verifier once', () => {
    const again = claimWithVerifier(claimed(), { verifier: VERIFIER, cookie: 'second' }, NOW);
    expect(again).toEqual({ ok: false, refusal: 'wrong-stage' });
  });

  it.each(['', 'wrong', challengeOf(VERIFIER)])('refuses verifier %p', (verifier) => {
    const step = claimWithVerifier(withChallenge().login, { verifier, cookie: COOKIE }, NOW);
    expect(step).toEqual({ ok: false, refusal: 'wrong-secret' });
  });

  it('takes no verifier where there is no challenge, and no code where there is one', () => {
    expect(claimWithVerifier(withCode().login, { verifier: '', cookie: COOKIE }, NOW).ok).toBe(false);
    expect(claimWithCode(withChallenge().login, { code: '', cookie: COOKIE }, NOW)).toEqual({
      ok: false,
      refusal: 'wrong-stage',
    });
  });

  it.each([
    ['as shown', (code: string) => code],
    ['in lower case', (code: string) => code.toLowerCase()],
    ['without the dash', (code: string) => code.replace('-', '')],
    ['with blanks', (code: string) => ` ${code.replace('-', ' ')} `],
  ])('takes the code %s', (_name, type) => {
    const { login, userCode } = withCode();
    expect(claimWithCode(login, { code: type(userCode), cookie: COOKIE }, NOW).ok).toBe(true);
  });

  it('ends at the fifth wrong code, after which the right one does not help', () => {
    const { login, userCode } = withCode();
    let current: Login = login;
    for (let wrong = 1; wrong <= MAX_WRONG_CODES; wrong++) {
      const step = claimWithCode(current, { code: 'BBBB-BBBB', cookie: COOKIE }, NOW);
      expect(step).toMatchObject({
        ok: false,
        refusal: wrong === MAX_WRONG_CODES ? 'ended' : 'wrong-secret',
      });
      current = step.login ?? current;
    }
    expect(current.stage).toBe('ended');
    expectReason('connection/Authenticated/LoginEnded', { reason: current.endedReason ?? '' });
    expect(claimWithCode(current, { code: userCode, cookie: COOKIE }, NOW).ok).toBe(false);
  });
});

describe('the way to the backend and back', () => {
  it('needs a claim, and its cookie', () => {
    const secrets = { cookie: COOKIE, nonce: 'n', sessionId: 's' };
    expect(redirectToBackend(withChallenge().login, secrets, NOW)).toEqual({
      ok: false,
      refusal: 'wrong-stage',
    });
    expect(redirectToBackend(claimed(), { ...secrets, cookie: 'other' }, NOW)).toEqual({
      ok: false,
      refusal: 'wrong-secret',
    });
  });

  it('gives the provider its time once', () => {
    const secrets = { cookie: COOKIE, nonce: 'n', sessionId: 's' };
    const first = done(redirectToBackend(claimed(), secrets, NOW + LOGIN_MS - 1));
    expect(Date.parse(first.expiresAt)).toBe(NOW + LOGIN_MS - 1 + PROVIDER_LOGIN_MS);
    const second = done(redirectToBackend(first, secrets, NOW + LOGIN_MS + 60_000));
    expect(second.expiresAt).toBe(first.expiresAt);
  });

  it('lets only the newest nonce through', () => {
    const again = done(
      redirectToBackend(redirected(), { cookie: COOKIE, nonce: 'n2', sessionId: 's2' }, NOW),
    );
    expect(acceptCallback(again, { cookie: COOKIE, nonce: 'the-nonce' }, NOW).ok).toBe(false);
    expect(acceptCallback(again, { cookie: COOKIE, nonce: 'n2' }, NOW).ok).toBe(true);
  });

  it('takes a nonce once', () => {
    expect(isAccepted(accepted())).toBe(true);
    expect(acceptCallback(accepted(), { cookie: COOKIE, nonce: 'the-nonce' }, NOW)).toEqual({
      ok: false,
      refusal: 'wrong-stage',
    });
  });

  it.each([
    ['no cookie', { cookie: '', nonce: 'the-nonce' }],
    ['another cookie', { cookie: 'x', nonce: 'the-nonce' }],
    ['no nonce', { cookie: COOKIE, nonce: '' }],
    ['another nonce', { cookie: COOKIE, nonce: 'x' }],
    ['a token of another session', { cookie: COOKIE, nonce: 'the-nonce', sessionId: 'x' }],
  ])('refuses a callback with %s and stays as it was', (_name, secrets) => {
    const before = redirected();
    expect(acceptCallback(before, secrets, NOW)).toEqual({ ok: false, refusal: 'wrong-secret' });
    expect(acceptCallback(before, { cookie: COOKIE, nonce: 'the-nonce', sessionId: 's' }, NOW).ok).toBe(true);
  });

  it('finishes what was accepted, though its time ran out meanwhile', () => {
    expect(finishedAt(NOW + LOGIN_MS * 5).stage).toBe('finished');
  });

  it('does not finish a login that was sent to the backend again meanwhile', () => {
    const first = accepted();
    const again = done(redirectToBackend(first, { cookie: COOKIE, nonce: 'n2', sessionId: 's2' }, NOW));
    expect(finish(again, first, NOW).ok).toBe(false);
    const acceptedAgain = done(acceptCallback(again, { cookie: COOKIE, nonce: 'n2' }, NOW));
    expect(finish(acceptedAgain, first, NOW).ok).toBe(false);
    expect(finish(acceptedAgain, acceptedAgain, NOW).ok).toBe(true);
  });

  it('does not finish another login, a redirected or a finished one', () => {
    expect(finish(withCode().login, accepted(), NOW).ok).toBe(false);
    expect(finish(redirected(), accepted(), NOW).ok).toBe(false);
    expect(finish(finished(), accepted(), NOW)).toEqual({ ok: false, refusal: 'finished' });
  });
});

describe('ends', () => {
  it('expires at its time, not before', () => {
    const { login } = withCode();
    expect(isExpired(login, NOW + LOGIN_MS - 1)).toBe(false);
    expect(expire(login, NOW + LOGIN_MS - 1)).toBe(login);
    const expired = expire(login, NOW + LOGIN_MS);
    expect(expired.stage).toBe('ended');
    expectReason('connection/Authenticated/LoginExpired', { reason: expired.endedReason ?? '' });
  });

  it('counts an unreadable time as over', () => {
    expect(isExpired({ ...withCode().login, expiresAt: 'soon' }, NOW)).toBe(true);
  });

  it('keeps a finished login finished', () => {
    const login = finished();
    expect(expire(login, NOW + LOGIN_MS * 100)).toBe(login);
    expect(endLogin(login, 'LoginRefused', 'no')).toBe(login);
  });

  it('refuses every step after its time', () => {
    const late = NOW + LOGIN_MS * 3;
    const { login, userCode } = withCode();
    expect(claimWithCode(login, { code: userCode, cookie: 'c' }, late)).toEqual({
      ok: false,
      refusal: 'expired',
    });
    expect(claimWithVerifier(withChallenge().login, { verifier: VERIFIER, cookie: 'c' }, late)).toEqual({
      ok: false,
      refusal: 'expired',
    });
    expect(redirectToBackend(claimed(), { cookie: COOKIE, nonce: 'n', sessionId: 's' }, late)).toEqual({
      ok: false,
      refusal: 'expired',
    });
    expect(acceptCallback(redirected(), { cookie: COOKIE, nonce: 'the-nonce' }, late)).toEqual({
      ok: false,
      refusal: 'expired',
    });
  });

  it('takes the wish for another login only after an end without an account', () => {
    expect(requestRestart(claimed(), NOW)).toEqual({ ok: false, refusal: 'wrong-stage' });
    expect(requestRestart(finished(), NOW)).toEqual({ ok: false, refusal: 'finished' });
    const wished = done(requestRestart(withCode().login, NOW + LOGIN_MS));
    expect(wished).toMatchObject({ stage: 'ended', restartRequestedAt: '2026-01-02T03:14:05.000Z' });
    expect(done(requestRestart(wished, NOW + LOGIN_MS * 2))).toEqual(wished);
  });
});

/** Everything that somebody without the right secrets can send, in any order and at any time. */
describe('without the right secret', () => {
  const guess = fc.oneof(
    fc.string(),
    fc.base64String(),
    fc.constantFrom('', 'BBBB-BBBB', 'undefined', 'null'),
  );
  const action = fc.record({
    kind: fc.constantFrom('verifier', 'code', 'redirect', 'callback', 'expire', 'restart'),
    guess,
    cookie: guess,
    after: fc.integer({ min: 0, max: 15 * 60_000 }),
  });
  type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

  function attempt(login: Login, sent: Action, now: number): Login {
    const { guess: value, cookie } = sent;
    const steps: Record<string, () => Step> = {
      verifier: () => claimWithVerifier(login, { verifier: value, cookie }, now),
      code: () => claimWithCode(login, { code: value, cookie }, now),
      redirect: () => redirectToBackend(login, { cookie, nonce: value, sessionId: value }, now),
      callback: () => acceptCallback(login, { cookie, nonce: value }, now),
      expire: () => ({ ok: true, login: expire(login, now) }),
      restart: () => requestRestart(login, now),
    };
    const step = steps[sent.kind]?.();
    return step?.login ?? login;
  }

  it.each([
    ['a login with a challenge', () => withChallenge().login],
    ['a login with a code', () => withCode().login],
    ['a claimed login', claimed],
    ['a redirected login', redirected],
  ])('%s neither moves on nor finishes', (_name, make) => {
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (actions) => {
        const before = make();
        let login: Login = before;
        let now = NOW;
        for (const sent of actions) {
          now += sent.after;
          login = attempt(login, sent, now);
          expect([before.stage, 'ended']).toContain(login.stage);
          expect(isAccepted(login)).toBe(false);
          expect(finish(login, login, now).ok).toBe(false);
        }
        if (login.stage !== 'ended') {
          expect(login.cookieHash).toBe(before.cookieHash);
          expect(login.nonceHash).toBe(before.nonceHash);
        }
      }),
    );
  });

  it('never compares with an absent hash as equal', () => {
    fc.assert(
      fc.property(guess, guess, (a, b) => {
        const bare: Login = {
          idHash: '',
          wrongCodes: 0,
          expiresAt: '2999-01-01T00:00:00.000Z',
          stage: 'awaited',
        };
        expect(claimWithVerifier(bare, { verifier: a, cookie: b }, NOW).ok).toBe(false);
        expect(claimWithCode(bare, { code: a, cookie: b }, NOW).ok).toBe(false);
        expect(isClaimedBy(bare, a)).toBe(false);
        expect(isNamedBy(bare, a)).toBe(false);
      }),
    );
  });
});
