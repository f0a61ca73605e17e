import { createBackendApi } from '../../../src/backend/http/backend-api.js';
import { BackendError } from '../../../src/backend/errors.js';
import { KubeError, TransportError } from '../../../src/kube/errors.js';
import type { ForeignHttp } from '../../../src/kube/foreign-http.js';
import type { CommandContext } from '../command-context.js';
import { printable } from '../output/printable.js';
import { failed, ok, warning, type Check } from './check.js';
import { checkCertificates } from './certificates.js';
import type { ClockReading } from './clock.js';

/** A provider to look at. */
export interface BackendTarget {
  readonly url: string;
  readonly ca: string | undefined;
  /** The controller's view, where a connection to it exists. */
  readonly connection?: { readonly name: string; readonly unreachable: string | undefined } | undefined;
}

/** What looking at a provider gave. */
export interface BackendFindings {
  readonly checks: readonly Check[];
  readonly clock?: ClockReading;
}

/** Asks a provider from this machine, and compares with what the controller says about it. */
export async function checkBackend(context: CommandContext, target: BackendTarget): Promise<BackendFindings> {
  const http = await context.effects.createHttp();
  const { host } = new URL(target.url);
  const { clock } = context.effects;
  let reading: ClockReading | undefined;
  // The API gives the document only; the time of the answer is in its head.
  const timed: ForeignHttp = {
    ...http,
    request: async (init) => {
      const asked = clock.now();
      const response = await http.request(init);
      const theirs = Date.parse(response.headers['date'] ?? '');
      if (!Number.isNaN(theirs)) reading = { of: host, theirs, asked, answered: clock.now() };
      return response;
    },
  };
  const checks: Check[] = [];
  if (target.ca !== undefined) {
    checks.push(
      checkCertificates('backend-ca', `the certificate authority for ${host}`, target.ca, clock.now()),
    );
  }
  try {
    const api = createBackendApi({
      http: timed,
      url: target.url,
      ...(target.ca === undefined ? {} : { ca: target.ca }),
    });
    const info = await api.provider(context.signal);
    checks.push(
      ok('backend', `${host} is a kube-bind provider of version ${printable(info.version, 60)}`),
      ...controllerView(target, host),
    );
  } catch (error) {
    context.signal.throwIfAborted();
    checks.push(unreachable(error, target));
  } finally {
    await http.close();
  }
  return { checks, ...(reading === undefined ? {} : { clock: reading }) };
}

function controllerView(target: BackendTarget, host: string): Check[] {
  const { connection } = target;
  if (connection?.unreachable === undefined) return [];
  return [
    failed(
      'backend-from-controller',
      `connection ${connection.name}: this machine reaches ${host}, the controller does not: ${printable(connection.unreachable, 300)}`,
      'ask the platform admin to let the controller reach that address (--allow-backend, --allow-address, a proxy, its firewall)',
    ),
  ];
}

function unreachable(error: unknown, target: BackendTarget): Check {
  if (error instanceof BackendError) {
    return failed(
      'backend',
      printable(error.message, 600),
      "give the backend's own URL, or ask the provider",
    );
  }
  if (!(error instanceof KubeError)) throw error;
  const text = `${target.url} cannot be reached from here: ${printable(error.message, 300)}`;
  if (error instanceof TransportError && error.kind === 'tls') {
    return failed(
      'backend',
      text,
      "give the provider's certificate authority with --ca-file, or to node with NODE_EXTRA_CA_CERTS",
    );
  }
  // The controller may reach it all the same, and that is enough for its own handshake.
  const reaches = target.connection !== undefined && target.connection.unreachable === undefined;
  return reaches
    ? warning(
        'backend',
        `${text}; the controller reaches it`,
        'use --no-provider-check; --handshake=local does not work from here',
      )
    : failed(
        'backend',
        text,
        'check the URL and the network; if only the controller can reach it, use --no-provider-check',
      );
}
