import { PluginError } from '../errors.js';

/** The login page as it is opened. */
export interface LoginPage {
  /** With the verifier. */
  readonly url: string;
  readonly host: string;
}

/**
 * The page of `status.authentication.url` with the verifier added. A status can be written by whoever rules
 * the workspace: only plain http(s) URLs without user info are taken, and the host is shown to the user
 * before it is opened.
 *
 * @throws PluginError LOGIN
 */
export function loginPage(authenticationUrl: string, verifier: string | undefined): LoginPage {
  const url = URL.canParse(authenticationUrl) ? new URL(authenticationUrl) : undefined;
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.href.length > 8192
  ) {
    throw new PluginError({
      code: 'LOGIN',
      message: 'the connection’s status.authentication.url is no plain http(s) URL; it is not opened',
      remedy: 'ask the platform admin to check the controller’s external URL',
    });
  }
  if (verifier !== undefined) url.searchParams.set('verifier', verifier);
  return { url: url.href, host: url.host };
}
