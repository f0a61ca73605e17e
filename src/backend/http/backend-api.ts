import { isJsonObject, type JsonObject } from '../../kube/json-value.js';
import type { ForeignHttp, ForeignResponse } from '../../kube/foreign-http.js';
import { successBody, type Question } from './answer.js';
import { backendBase, backendUrl } from './backend-url.js';
import { readBindAnswer, type BindResult } from './bind-answer.js';
import { readProviderInfo, type ProviderInfo } from './provider-info.js';

const TIMEOUT_MS = 30_000;
const MAX_DOCUMENT = 256 * 1024;
const MAX_LIST = 8 * 1024 * 1024;

export interface BackendOptions {
  readonly http: ForeignHttp;
  /** As in `spec.backend.url`. */
  readonly url: string;
  /** Which of the backend's provider clusters; goes along with every request. */
  readonly clusterID?: string | undefined;
  /** PEM authorities for this backend in place of the system's. */
  readonly ca?: string | undefined;
}

interface BindRequest {
  readonly template: string;
  /** Name that the backend puts into the proposed export request. */
  readonly name: string;
  /** Whoever knows it gets this consumer's account. */
  readonly identity: string;
  readonly prettyName?: string | undefined;
}

interface LoginTarget {
  /** Where the backend sends the browser back to. Put a nonce into its query: the backend returns nothing else of ours. */
  readonly redirectUrl: string;
  /** A value of this login only. It also stands in the token as `sid`. */
  readonly sessionId: string;
}

/** The HTTP API of a kube-bind backend, v0.8. Methods reject with BackendError, or with KubeError where no answer came. */
export interface BackendApi {
  provider(signal?: AbortSignal): Promise<ProviderInfo>;
  /** Where the person's browser goes. */
  authorizeUrl(info: ProviderInfo, target: LoginTarget): string;
  /** The offered templates as the backend wrote them; `templatesToOffers` reads them. */
  templates(token: string, signal?: AbortSignal): Promise<readonly JsonObject[]>;
  collections(token: string, signal?: AbortSignal): Promise<readonly JsonObject[]>;
  bind(token: string, request: BindRequest, signal?: AbortSignal): Promise<BindResult>;
}

/** @throws BackendError `BACKEND_INVALID_URL` */
export function createBackendApi(options: BackendOptions): BackendApi {
  const { http, ca, clusterID } = options;
  const base = backendBase(options.url);
  const withCluster = { cluster_id: clusterID === '' ? undefined : clusterID };

  const request = (
    method: 'GET' | 'POST',
    url: URL,
    extra: { token?: string; body?: string; maxBytes?: number; signal?: AbortSignal | undefined },
  ): Promise<ForeignResponse> =>
    http.request({
      method,
      url: url.href,
      headers: {
        accept: 'application/json',
        ...(extra.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(extra.token === undefined ? {} : { authorization: `Bearer ${extra.token}` }),
      },
      timeoutMs: TIMEOUT_MS,
      maxBytes: extra.maxBytes ?? MAX_DOCUMENT,
      ...(extra.body === undefined ? {} : { body: extra.body }),
      ...(ca === undefined ? {} : { ca }),
      ...(extra.signal === undefined ? {} : { signal: extra.signal }),
    });

  const list = async (path: string, purpose: string, token: string, signal?: AbortSignal) => {
    const response = await request('GET', backendUrl(base, path, withCluster), {
      token,
      maxBytes: MAX_LIST,
      signal,
    });
    const question: Question = { url: backendUrl(base, path).href, purpose, secrets: [token] };
    const items = successBody(response, question)['items'];
    // The list itself has neither kind nor apiVersion, and no items when there are none.
    return Array.isArray(items) ? items.filter(isJsonObject) : [];
  };

  return {
    async provider(signal) {
      return readProviderInfo(await request('GET', backendUrl(base, '/api/exports'), { signal }), base);
    },

    authorizeUrl(info, { redirectUrl, sessionId }) {
      const url = new URL(info.authorizeEndpoint);
      url.searchParams.set('redirect_url', redirectUrl);
      url.searchParams.set('session_id', sessionId);
      url.searchParams.set('client_type', 'cli');
      if (withCluster.cluster_id !== undefined) url.searchParams.set('cluster_id', withCluster.cluster_id);
      return url.href;
    },

    templates: (token, signal) => list('/api/templates', 'list the templates', token, signal),

    collections: (token, signal) => list('/api/collections', 'list the collections', token, signal),

    async bind(token, { template, name, identity, prettyName }, signal) {
      const body: JsonObject = {
        apiVersion: 'kube-bind.io/v1alpha2',
        kind: 'BindableResourcesRequest',
        metadata: { name },
        spec: { templateRef: { name: template }, clusterIdentity: { identity, prettyName } },
      };
      const url = backendUrl(base, '/api/bind', withCluster);
      const response = await request('POST', url, { token, body: JSON.stringify(body), signal });
      const question: Question = {
        url: backendUrl(base, '/api/bind').href,
        purpose: `bind template ${template}`,
        secrets: [token, identity],
      };
      return readBindAnswer(successBody(response, question), question.url);
    },
  };
}
