import {
  AddressDeniedError,
  ApiError,
  KubeconfigError,
  ProtocolError,
  TransportError,
} from '../../src/kube/errors.js';
import { PluginError } from './errors.js';
import { printable } from './output/printable.js';

/** Turns what the transport reports about the workspace's API server into cause and remedy. */
export function asPluginError(error: unknown, server: string): PluginError {
  if (error instanceof PluginError) return error;
  if (error instanceof ApiError) return fromStatus(error, server);
  if (error instanceof TransportError) {
    return new PluginError({
      code: 'UNREACHABLE',
      message: `the API server ${server} cannot be reached: ${printable(error.message, 300)}`,
      remedy:
        error.kind === 'tls'
          ? "check the kubeconfig's certificate-authority and client certificate"
          : 'check the network and the server in the kubeconfig, then run the command again',
      cause: error,
    });
  }
  if (error instanceof ProtocolError || error instanceof AddressDeniedError) {
    return new PluginError({
      code: 'UNREACHABLE',
      message: `${server} does not answer like a Kubernetes API: ${printable(error.message, 300)}`,
      remedy: 'check the server in the kubeconfig',
      cause: error,
    });
  }
  if (error instanceof KubeconfigError) {
    return new PluginError({
      code: 'KUBECONFIG',
      message: `the kubeconfig cannot be used: ${printable(error.message, 300)}`,
      remedy: `correct ${error.field}`,
      cause: error,
    });
  }
  return new PluginError({
    code: 'INTERNAL',
    message: `unexpected: ${printable(error instanceof Error ? error.message : String(error), 300)}`,
    remedy: 'run it again with -v, and report the output as a defect',
    cause: error,
  });
}

function fromStatus(error: ApiError, server: string): PluginError {
  const said = printable(error.message, 400);
  switch (error.status) {
    case 401:
      return new PluginError({
        code: 'CREDENTIALS',
        message: `the API server ${server} does not accept the kubeconfig's credentials`,
        remedy: 'log in to kcp again, then run the command again',
        cause: error,
      });
    case 403:
      return new PluginError({
        code: 'FORBIDDEN',
        message: `not allowed in this workspace: ${said}`,
        remedy:
          'ask an admin of the workspace for this right, or use another context (a workspace that does not exist answers the same)',
        cause: error,
      });
    case 409:
      return new PluginError({
        code: 'CONFLICT',
        message: `somebody else changed the same object: ${said}`,
        remedy: 'run the command again',
        cause: error,
      });
    default:
      return new PluginError({
        code: error.status === 429 || error.status >= 500 ? 'UNREACHABLE' : 'SERVER',
        message: `the API server refuses (${error.status}): ${said}`,
        remedy:
          error.status === 422 || error.status === 400
            ? 'correct what the message names'
            : 'run the command again in a while; -v shows more',
        cause: error,
      });
  }
}
