import type { ForeignHttp, ForeignResponse } from '../../kube/foreign-http.js';
import type { RecordedAnswer } from './recorded.js';

type ForeignRequest = Parameters<ForeignHttp['request']>[0];

/** An answer in short: JSON for objects, text as it is. */
export function answer(status: number, contentType: string, body: unknown, headers = {}): ForeignResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    status,
    headers: { ...(contentType === '' ? {} : { 'content-type': contentType }), ...headers },
    body: new TextEncoder().encode(text),
  };
}

export function replay({ status, contentType, body }: RecordedAnswer): ForeignResponse {
  return answer(status, contentType, body);
}

/** Answers every request with one answer, and remembers the requests. For tests. */
export class StubHttp implements ForeignHttp {
  readonly requests: ForeignRequest[] = [];
  readonly #response: ForeignResponse;

  constructor(response: ForeignResponse) {
    this.#response = response;
  }

  get last(): ForeignRequest {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('no request was made');
    return request;
  }

  async request(request: ForeignRequest): Promise<ForeignResponse> {
    this.requests.push(request);
    return this.#response;
  }

  async close(): Promise<void> {
    this.requests.length = 0;
  }
}
