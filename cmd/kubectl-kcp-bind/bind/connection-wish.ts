import type { CommandContext, Session } from '../command-context.js';
import { listConnections } from '../objects.js';
import type { Backend } from '../typed-objects.js';
import { connectionNameFor, parseBackendUrl } from './backend-url.js';
import type { BindOptions } from './bind-options.js';
import { readCaFile } from './ca-file.js';
import type { ConnectionWish } from './connection.js';
import { isLeaving, sameAccount } from './same-backend.js';

/**
 * The connection that URL and flags ask for.
 *
 * @throws PluginError USAGE
 */
export async function readConnectionWish(
  context: CommandContext,
  url: string,
  options: BindOptions,
): Promise<ConnectionWish> {
  const parsed = parseBackendUrl(url);
  if (parsed.insecure) {
    context.report.warn(`${parsed.url} is not encrypted: others on the way can read and take over the login`);
  }
  const caBundle = await readCaFile(context, options.caFile);
  const backend: Backend = {
    url: parsed.url,
    ...(options.clusterID === undefined ? {} : { clusterID: options.clusterID }),
    ...(caBundle === undefined ? {} : { caBundle }),
    ...(options.account === undefined ? {} : { account: options.account }),
  };
  return { backend, name: options.connection, derivedName: connectionNameFor(backend) };
}

/**
 * Without `--ca-file` the authority of the connection that exists counts, and that is said: the same command without
 * the flag would else ask for another connection.
 */
export async function withKnownAuthority(
  context: CommandContext,
  session: Session,
  wish: ConnectionWish,
): Promise<ConnectionWish> {
  if (wish.backend.caBundle !== undefined) return wish;
  const connections = (await listConnections(session.client, context.signal)) ?? [];
  const fitting = connections.filter(
    ({ metadata, spec }) =>
      spec.backend !== undefined &&
      sameAccount(spec.backend, wish.backend) &&
      (wish.name === undefined || metadata.name === wish.name),
  );
  const alive = fitting.filter((connection) => !isLeaving(connection));
  const caBundle = alive[0]?.spec.backend?.caBundle;
  if (alive.some(({ spec }) => spec.backend?.caBundle === undefined) || caBundle === undefined) return wish;
  context.report.note(
    `Verifying the provider with the certificate authority of KubeBindConnection ${alive[0]?.metadata.name ?? ''}`,
  );
  return { ...wish, backend: { ...wish.backend, caBundle } };
}
