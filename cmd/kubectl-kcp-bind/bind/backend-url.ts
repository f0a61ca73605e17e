import { isIP } from 'node:net';
import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';

/** A provider's URL as it goes into `spec.backend.url`. */
export interface BackendUrl {
  /** Without trailing slash, query and fragment. */
  readonly url: string;
  /** `host[:port]`, for messages. */
  readonly host: string;
  /** Everything is sent in the clear, and not to this machine. */
  readonly insecure: boolean;
}

/**
 * Reads the URL that the user was given. The paths of a backend's export document (`/exports`,
 * `/api/exports`), which providers like to print, are taken off.
 *
 * @throws PluginError USAGE
 */
export function parseBackendUrl(text: string): BackendUrl {
  const shown = JSON.stringify(printable(text, 200));
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw refused(
      `${shown} is no http(s) URL`,
      'give the provider’s URL, for instance https://bind.example.com',
    );
  }
  if (url.username !== '' || url.password !== '') {
    throw refused(
      'a provider’s URL may not hold a user name or password',
      'take what stands before the @ off',
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw refused(`${shown} has a query or fragment`, 'give the URL without what follows ? or #');
  }
  const path = url.pathname.replace(/\/+$/, '').replace(/(\/api)?\/exports$/, '');
  const result = `${url.origin}${path}`;
  if (result.length > 2048) throw refused('the provider’s URL is longer than 2048 characters', 'shorten it');
  return { url: result, host: url.host, insecure: url.protocol === 'http:' && !isLoopback(url.hostname) };
}

/** Name of a connection to a backend: its host and what else tells connections to it apart. */
export function connectionNameFor(backend: {
  readonly url: string;
  readonly clusterID?: string | undefined;
  readonly account?: string | undefined;
}): string {
  const { host } = new URL(backend.url);
  const account = backend.account === 'default' ? undefined : backend.account;
  const name = [host, backend.clusterID, account]
    .filter((part) => part !== undefined)
    .map((part) => part.toLowerCase().replace(/[^a-z0-9.-]+/g, '-'))
    .join('-');
  // A DNS subdomain: labels start and end with a letter or digit.
  const clean = name
    .split('.')
    .map((label) => label.replace(/^-+|-+$/g, ''))
    .filter((label) => label !== '')
    .join('.');
  return clean.slice(0, 63).replace(/[-.]+$/, '');
}

function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '');
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function refused(message: string, remedy: string): PluginError {
  return new PluginError({ code: 'USAGE', message, remedy });
}
