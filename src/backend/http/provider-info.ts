import { untrustedText } from '../../api/untrusted-text.js';
import type { ForeignResponse } from '../../kube/foreign-http.js';
import { isJsonObject, type JsonObject } from '../../kube/json-value.js';
import { BackendError } from '../errors.js';
import { describeAnswer, readJsonObject } from './answer.js';
import { backendUrl } from './backend-url.js';

const NEEDED = 'a kube-bind backend of version v0.8 or later that speaks kube-bind.io/v1alpha2';
const METHOD = 'OAuth2CodeGrant';

/** What a backend says about itself, checked. */
export interface ProviderInfo {
  /** A caption that the provider chose; may be empty. Never show it in place of the host. */
  readonly prettyName: string;
  /** For instance `v0.8.2`; `v0.0.0` for development builds. */
  readonly version: string;
  /** Where a login starts, on the origin that was asked; `authorizeUrl` completes it. */
  readonly authorizeEndpoint: string;
}

/**
 * Reads the provider document, the answer to `GET <base>/api/exports`.
 *
 * @throws BackendError `BACKEND_NOT_A_BACKEND`, `BACKEND_UNSUPPORTED` or `BACKEND_FOREIGN_AUTHORIZE_URL`
 */
export function readProviderInfo(response: ForeignResponse, base: URL): ProviderInfo {
  const url = backendUrl(base, '/api/exports').href;
  const document = response.status === 200 ? readJsonObject(response) : undefined;
  if (document?.['kind'] !== 'BindingProvider') throw notABackend(response, document, url);
  const version = checkVersion(document, url);
  return {
    prettyName: untrustedText(document['providerPrettyName'], 256),
    version,
    authorizeEndpoint: checkAuthorizeUrl(authenticatedUrl(document, url), base, url),
  };
}

function notABackend(response: ForeignResponse, document: JsonObject | undefined, url: string): BackendError {
  const { status } = response;
  const target = status >= 300 && status < 400 ? untrustedText(response.headers['location'], 200) : '';
  const redirect = target === '' ? '' : `, a redirect to ${target} (redirects are not followed)`;
  const content = document === undefined ? '' : ' and JSON that is no BindingProvider';
  return new BackendError(
    'BACKEND_NOT_A_BACKEND',
    `${url} answered with ${describeAnswer(response)}${content}${redirect}. Needed is ${NEEDED}. ` +
      (status >= 500
        ? 'Try again later, and check the URL'
        : "Check the URL: it is the backend's own, not that of a web page"),
    { status },
  );
}

/** The version in apiVersion is bare in v0.8.2; with its group it means the same. */
function checkVersion(document: JsonObject, url: string): string {
  const apiVersion = document['apiVersion'];
  const version = untrustedText(document['version'], 128);
  const parts = /^v?(\d+)\.(\d+)(?:\.|$)/.exec(version);
  const [major, minor] = [Number(parts?.[1] ?? NaN), Number(parts?.[2] ?? NaN)];
  const speaks = apiVersion === 'v1alpha2' || apiVersion === 'kube-bind.io/v1alpha2';
  // Builds without a version say v0.0.0, some with more text behind it.
  const recent = /^v?0\.0\.0/.test(version) || major > 0 || minor >= 8;
  if (speaks && recent) return version;
  throw new BackendError(
    'BACKEND_UNSUPPORTED',
    `${url} is a backend of version "${version}" that speaks "${untrustedText(apiVersion, 60)}". Needed is ${NEEDED}. ` +
      'Ask the provider to upgrade its backend',
  );
}

function authenticatedUrl(document: JsonObject, url: string): string {
  const methods = document['authenticationMethods'];
  const list = Array.isArray(methods) ? methods.slice(0, 32).filter(isJsonObject) : [];
  for (const method of list) {
    const grant = method['oauth2CodeGrant'];
    const target = isJsonObject(grant) ? grant['authenticatedURL'] : undefined;
    if (method['method'] === METHOD && typeof target === 'string') return target;
  }
  const names = list.map((method) => untrustedText(method['method'], 40)).join(', ');
  throw new BackendError(
    'BACKEND_UNSUPPORTED',
    `${url} offers the login methods "${untrustedText(names, 200)}"; needed is ${METHOD}. ` +
      'Ask the provider for a kubeconfig, and use spec.kubeconfigSecretRef',
  );
}

/**
 * v0.8.2 builds this URL from the Host header and always writes http, also behind TLS, so its scheme says nothing.
 * Host and port must be those that were asked: else a document could send people elsewhere to log in.
 */
function checkAuthorizeUrl(text: string, base: URL, url: string): string {
  let target;
  try {
    target = new URL(text);
  } catch {
    throw foreign(text, base, url);
  }
  const defaultPort = base.protocol === 'https:' ? '443' : '80';
  const same =
    /^https?:$/.test(target.protocol) &&
    target.hostname === base.hostname &&
    (target.port === '' ? defaultPort : target.port) === (base.port === '' ? defaultPort : base.port);
  if (!same) throw foreign(text, base, url);
  const endpoint = new URL(base);
  const prefix = base.pathname.replace(/\/+$/, '');
  // A backend does not know under which prefix it is published.
  endpoint.pathname = target.pathname.startsWith(`${prefix}/`) ? target.pathname : prefix + target.pathname;
  endpoint.search = target.search;
  return endpoint.href;
}

function foreign(text: string, base: URL, url: string): BackendError {
  return new BackendError(
    'BACKEND_FOREIGN_AUTHORIZE_URL',
    `${url} wants people to log in at ${untrustedText(text, 200)}, which is not on ${base.host}. ` +
      'Use the URL under which the backend knows itself, or ask the provider to let its proxy pass the Host header on',
  );
}
