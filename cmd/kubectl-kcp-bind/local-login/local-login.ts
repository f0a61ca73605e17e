import { createBackendApi, type BackendApi } from '../../../src/backend/http/backend-api.js';
import { templatesToOffers } from '../../../src/backend/http/offers.js';
import { NONCE_PARAMETER } from '../../../src/backend/http/callback.js';
import { BackendError } from '../../../src/backend/errors.js';
import type { Offer } from '../../../src/api/offer.js';
import { KubeError } from '../../../src/kube/errors.js';
import { presentPage } from '../bind/present-page.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';
import type { Backend } from '../typed-objects.js';
import { awaitCallback, type LoginResult } from './await-callback.js';

/** What the handshake gave. */
export interface LocalAccount {
  /** Text, unchecked: it must go through the sanitizer. */
  readonly kubeconfig: string;
  readonly offers: readonly Offer[];
}

export interface LocalLoginOptions {
  readonly backend: Backend;
  /** Whoever knows it gets this workspace's account. */
  readonly identity: string;
  readonly browser: boolean;
  /** 0: any port. */
  readonly callbackPort: number;
}

/**
 * Makes the handshake from this machine: opens the backend's login, waits on a loopback address for the browser to
 * come back, reads the offers, and asks for the account of this identity. The same identity gets the same account, so
 * that it is safe to repeat.
 *
 * @throws PluginError PROVIDER, LOGIN, CONFLICT
 */
export async function loginLocally(
  context: CommandContext,
  options: LocalLoginOptions,
): Promise<LocalAccount> {
  const { backend } = options;
  const http = await context.effects.createHttp();
  try {
    const api = createBackendApi({
      http,
      url: backend.url,
      ...(backend.clusterID === undefined ? {} : { clusterID: backend.clusterID }),
      ...(backend.caBundle === undefined ? {} : { ca: backend.caBundle }),
    });
    return await handshake(context, api, options);
  } catch (error) {
    context.signal.throwIfAborted();
    throw asFailure(error, backend);
  } finally {
    await http.close();
  }
}

async function handshake(
  context: CommandContext,
  api: BackendApi,
  options: LocalLoginOptions,
): Promise<LocalAccount> {
  const info = await api.provider(context.signal);
  const random = (): string => Buffer.from(context.effects.randomBytes(16)).toString('base64url');
  const expected = { nonce: random(), sessionId: random() };
  const listener = await awaitCallback(context, expected, options.callbackPort);
  try {
    const redirect = new URL(listener.url);
    redirect.searchParams.set(NONCE_PARAMETER, expected.nonce);
    const url = api.authorizeUrl(info, { redirectUrl: redirect.href, sessionId: expected.sessionId });
    await presentPage(context, { url, host: new URL(url).host }, options.browser);
    const phase = context.report.progress.phase('Waiting until you have logged in');
    const login = await listener.result();
    phase.done('Logged in');
    return await accountOf(context, api, { login, identity: options.identity });
  } finally {
    await listener.close();
  }
}

async function accountOf(
  context: CommandContext,
  api: BackendApi,
  parts: { readonly login: LoginResult; readonly identity: string },
): Promise<LocalAccount> {
  const { identity, login } = parts;
  if (login.kind === 'bound') {
    const { kubeconfig, requests } = login.result;
    const offers = templatesToOffers(requests.map(({ name = '', spec }) => ({ metadata: { name }, spec })));
    return { kubeconfig, offers };
  }
  const { signal } = context;
  const phase = context.report.progress.phase('Asking the provider for an account of this workspace');
  const offers = templatesToOffers([...(await api.templates(login.token, signal))]);
  const [first] = offers;
  if (first === undefined) {
    throw new PluginError({
      code: 'PROVIDER',
      message: 'the provider offers no template',
      remedy: 'ask the provider which templates this user may see',
    });
  }
  // For the kubeconfig only: any template gives the same.
  const { template } = first;
  const { kubeconfig } = await api.bind(login.token, { template, name: template, identity }, signal);
  phase.done('The provider has given an account');
  return { kubeconfig, offers };
}

function asFailure(error: unknown, backend: Backend): unknown {
  if (error instanceof BackendError) {
    return new PluginError({
      code:
        error.code === 'BACKEND_UNAUTHORIZED' || error.code === 'BACKEND_FORBIDDEN' ? 'LOGIN' : 'PROVIDER',
      message: error.message,
      remedy: 'do what the message says, then run the same command again',
      cause: error,
    });
  }
  if (error instanceof KubeError) {
    return new PluginError({
      code: 'PROVIDER',
      message: `the provider ${backend.url} cannot be reached from here: ${printable(error.message, 300)}`,
      remedy: 'check the URL, the network and --ca-file; with --handshake=local this machine has to reach it',
      cause: error,
    });
  }
  return error;
}
