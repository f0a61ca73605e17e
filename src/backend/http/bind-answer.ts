import { isJsonObject, type JsonObject } from '../../kube/json-value.js';
import { BackendError } from '../errors.js';
import { decodeBase64Text } from './base64-text.js';

const MAX_REQUESTS = 32;
const MAX_KUBECONFIG = 64 * 1024;

/** What a bind request gave. */
export interface BindResult {
  /** Text of the kubeconfig, unchecked: it must go through the sanitizer. */
  readonly kubeconfig: string;
  /** Export requests that the backend proposes. */
  readonly requests: readonly ProposedRequest[];
  /** The contract namespace as the backend names it; the one in the kubeconfig counts. */
  readonly providerNamespace: string;
}

/** An APIServiceExportRequest as proposed: a name, absent where none was sent, and a spec. */
interface ProposedRequest {
  readonly name?: string;
  readonly spec: JsonObject;
}

/**
 * Reads the answer to a bind request.
 *
 * @throws BackendError `BACKEND_INVALID_ANSWER`; its message quotes nothing of the answer, which holds a token
 */
export function readBindAnswer(body: JsonObject, url: string): BindResult {
  if (body['kind'] !== 'BindingResponse') throw invalid(url, 'is no BindingResponse');
  const encoded = body['kubeconfig'];
  const kubeconfig = typeof encoded === 'string' ? decodeBase64Text(encoded) : undefined;
  if (kubeconfig === undefined) throw invalid(url, 'has no kubeconfig in base64');
  if (Buffer.byteLength(kubeconfig) > MAX_KUBECONFIG)
    throw invalid(url, `has a kubeconfig of more than ${MAX_KUBECONFIG} bytes`);
  const namespace = body['providerNamespace'];
  return {
    kubeconfig,
    requests: readRequests(body['requests'], url),
    providerNamespace: typeof namespace === 'string' ? namespace.slice(0, 253) : '',
  };
}

function readRequests(value: unknown, url: string): ProposedRequest[] {
  if (!Array.isArray(value)) return [];
  if (value.length > MAX_REQUESTS) throw invalid(url, `proposes more than ${MAX_REQUESTS} export requests`);
  return value.flatMap((item: unknown) => {
    if (!isJsonObject(item) || !isJsonObject(item['spec'])) return [];
    const metadata = item['metadata'];
    const name = isJsonObject(metadata) ? metadata['name'] : undefined;
    return [{ spec: item['spec'], ...(typeof name === 'string' && name !== '' ? { name } : {}) }];
  });
}

function invalid(url: string, what: string): BackendError {
  return new BackendError(
    'BACKEND_INVALID_ANSWER',
    `the answer of ${url} ${what}. Ask the provider to check its backend; needed is kube-bind v0.8 or later`,
    { status: 200 },
  );
}
