/** An answer with its whole body, which is never larger than the request's budget. */
export interface ForeignResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/**
 * Plain HTTP to a host that a tenant named (a kube-bind backend). Goes through the dialler's address policy,
 * never follows a redirect, asks for no compression, and keeps caps on headers, body and time. Rejects with
 * TransportError, ProtocolError (a cap) or AddressDeniedError.
 */
export interface ForeignHttp {
  request(request: {
    readonly method: 'GET' | 'POST';
    readonly url: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    /** PEM authorities for this host in place of the system's. */
    readonly ca?: string;
    readonly timeoutMs?: number;
    readonly maxBytes?: number;
    readonly signal?: AbortSignal;
  }): Promise<ForeignResponse>;
  close(): Promise<void>;
}
