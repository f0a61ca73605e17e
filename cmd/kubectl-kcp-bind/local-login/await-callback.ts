import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';
import { judgeCallback, type CallbackJudgement, type ExpectedCallback } from './callback.js';
import type { LoopbackAnswer, LoopbackRequest, LoopbackServer } from './loopback-server.js';
import { page } from './pages.js';

/** What a login gave. */
export type LoginResult = Extract<CallbackJudgement, { kind: 'token' | 'bound' }>;

/** A listener that waits for one login. */
export interface CallbackListener {
  /** Where the backend sends the browser back to, without the nonce. */
  readonly url: string;
  /** @throws PluginError LOGIN when the backend says that the login failed; the signal's reason */
  result(): Promise<LoginResult>;
  /** Ends the listener; a moment later where the browser is still on its way to the last page. Idempotent. */
  close(): Promise<void>;
}

/** So long a browser has to fetch the page behind its redirect. */
const LAST_PAGE_MS = 1500;
const CALLBACK = '/callback';
const DONE = '/done';

/**
 * Waits on a loopback address for the one callback that fits; refuses all others and goes on waiting. After it the
 * browser is sent to a page without the token in its address.
 *
 * @param port of `--callback-port`; 0: any
 * @throws PluginError CONFLICT when another program has that port
 */
export async function awaitCallback(
  context: CommandContext,
  expected: ExpectedCallback,
  port: number,
): Promise<CallbackListener> {
  let settle: { resolve: (result: LoginResult) => void; reject: (error: Error) => void } | undefined;
  let used = false;
  let leave: (() => void) | undefined;
  const left = new Promise<void>((resolve) => (leave = resolve));
  const ended = new Promise<LoginResult>((resolve, reject) => (settle = { resolve, reject }));
  // Whoever asks for the result sees the failure; nobody else has to.
  ended.catch(() => undefined);
  const handle = ({ path, query }: LoopbackRequest): LoopbackAnswer => {
    if (path === DONE) {
      leave?.();
      return { status: 200, html: page('Logged in', 'You can close this page: the terminal goes on.') };
    }
    if (path !== CALLBACK) return { status: 404, html: page('Not found', 'Only the login comes here.') };
    const judgement = judgeCallback(query, expected);
    if (judgement.kind === 'stray') {
      return { status: 400, html: page('Not accepted', `This request was refused: ${judgement.why}.`) };
    }
    if (used) return { status: 410, html: page('Used already', 'This login has ended.') };
    used = true;
    if (judgement.kind === 'failure') {
      leave?.();
      settle?.reject(refused(judgement));
      const text = `${judgement.error} ${judgement.description}`;
      return { status: 400, html: page('The login failed', `The provider says: ${text}`) };
    }
    settle?.resolve(judgement);
    return { status: 303, html: '', location: DONE };
  };
  const server = await listen(context, port, handle);
  const stop = (): void => settle?.reject(reasonOf(context.signal));
  context.signal.addEventListener('abort', stop, { once: true });
  let closed: Promise<void> | undefined;
  return {
    url: `${server.origin}${CALLBACK}`,
    result: () => ended,
    close: () =>
      (closed ??= (async () => {
        context.signal.removeEventListener('abort', stop);
        if (used && !context.signal.aborted) await lastPage(context, left);
        await server.close();
      })()),
  };
}

async function lastPage(context: CommandContext, left: Promise<void>): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const limit = context.effects.clock.sleep(LAST_PAGE_MS, signal).catch(() => undefined);
  await Promise.race([left, limit]);
  stop.abort();
}

async function listen(
  context: CommandContext,
  port: number,
  handle: (request: LoopbackRequest) => LoopbackAnswer,
): Promise<LoopbackServer> {
  try {
    return await context.effects.serveLoopback(port, handle);
  } catch (cause) {
    throw new PluginError({
      code: 'CONFLICT',
      message: `cannot listen on 127.0.0.1${port === 0 ? '' : `:${port}`}: ${port === 0 ? 'the system refuses it' : 'the port is taken, or not allowed'}`,
      remedy: 'choose another port with --callback-port, or leave the flag out',
      cause,
    });
  }
}

function refused(failure: { readonly error: string; readonly description: string }): PluginError {
  const said = printable(`${failure.error} ${failure.description}`.trim(), 300);
  return new PluginError({
    code: 'LOGIN',
    message: `the provider refused the login: ${said}`,
    remedy: 'run the same command again for a new login',
  });
}

function reasonOf(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason });
}
