import type { Clock } from '../../kube/clock.js';
import type { Login } from '../records.js';
import { LOGIN_MS } from './login-lifetimes.js';
import { secretHash } from './secret-hash.js';
import { makeUserCode, normalizeUserCode } from './user-code.js';

/** A login and the secrets of it that are shown once and kept nowhere but in the connection's status. */
export interface StartedLogin {
  readonly login: Login;
  /** Last part of the login URL. */
  readonly id: string;
  /** Present where there is no challenge. */
  readonly userCode?: string;
}

/** Makes a login that waits for a browser. Nothing renews it by itself. */
export function startLogin(options: {
  readonly clock: Pick<Clock, 'now'>;
  readonly random: (bytes: number) => Uint8Array;
  /** From `spec.login.challenge`. */
  readonly challenge?: string | undefined;
  /** Milliseconds that its URL can be used; ten minutes unless given. */
  readonly lifetimeMs?: number | undefined;
}): StartedLogin {
  const { clock, random, challenge, lifetimeMs = LOGIN_MS } = options;
  const id = Buffer.from(random(16)).toString('base64url');
  const base = {
    idHash: secretHash(id),
    wrongCodes: 0,
    expiresAt: new Date(clock.now() + lifetimeMs).toISOString(),
    stage: 'awaited',
  } as const;
  if (challenge !== undefined) return { id, login: { ...base, challenge } };
  const userCode = makeUserCode(random);
  return { id, userCode, login: { ...base, userCodeHash: secretHash(normalizeUserCode(userCode)) } };
}
