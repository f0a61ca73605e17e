import { KubeError, ProtocolError, TransportError } from '../errors.js';

/** Codes of node and undici that mean: the answer breaks HTTP or a cap on it. */
const PROTOCOL_CODES = new Set([
  'UND_ERR_HEADERS_OVERFLOW',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'UND_ERR_RES_EXCEEDED_MAX_SIZE',
]);
const TIMEOUT_CODES = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT']);
const RESET_CODES = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE']);
const CLOSED_CODES = new Set(['UND_ERR_ABORTED', 'UND_ERR_DESTROYED', 'UND_ERR_CLOSED', 'ABORT_ERR']);

/** Verification results that node passes through from OpenSSL without a prefix of their own. */
const CERTIFICATE_CODE =
  /^(CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_CERT|DEPTH_ZERO_|INVALID_CA$|INVALID_PURPOSE$|PATH_LENGTH_|HOSTNAME_MISMATCH$|ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$)/;

/**
 * Names what went wrong on the network by codes alone. Errors that are typed already pass through.
 *
 * @param what the request, for the message: `GET https://host/path`
 */
export function asKubeError(error: unknown, what: string): KubeError {
  if (error instanceof KubeError) return error;
  const { code, text } = describe(error);
  const options = { cause: error };
  if (CERTIFICATE_CODE.test(code))
    return new TransportError(
      `${what}: TLS failed, check the certificate authority, the server's name and the client certificate: ${text}`,
      'tls',
      options,
    );
  if (PROTOCOL_CODES.has(code) || code.startsWith('HPE_'))
    return new ProtocolError(`${what}: the answer is not proper HTTP: ${text}`, options);
  if (TIMEOUT_CODES.has(code)) return new TransportError(`${what}: timed out: ${text}`, 'timeout', options);
  if (RESET_CODES.has(code))
    return new TransportError(`${what}: the connection broke: ${text}`, 'reset', options);
  if (CLOSED_CODES.has(code)) return new TransportError(`${what}: the client was closed`, 'aborted', options);
  return new TransportError(`${what}: cannot connect: ${text}`, 'connect', options);
}

/** Code and text of an error; of the first one where node tried several addresses. */
function describe(error: unknown): { code: string; text: string } {
  if (typeof error !== 'object' || error === null) return { code: '', text: String(error) };
  if ('errors' in error && Array.isArray(error.errors) && error.errors.length > 0)
    return describe(error.errors[0]);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const message = 'message' in error && typeof error.message === 'string' ? error.message : '';
  if (message === '') return { code, text: code };
  return { code, text: code === '' || message.includes(code) ? message : `${message} (${code})` };
}
