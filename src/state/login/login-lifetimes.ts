/** Milliseconds that a published login URL can be used. */
export const LOGIN_MS = 10 * 60_000;
/** Milliseconds that the provider's own login may take, counted from the first redirect to it. */
export const PROVIDER_LOGIN_MS = 10 * 60_000;
/** Milliseconds after a finished login in which its browser may pick from the offers. */
export const CATALOGUE_MS = 60 * 60_000;
/** Wrong user codes that end a login. */
export const MAX_WRONG_CODES = 5;
