import { parseBackendUrl } from '../bind/backend-url.js';
import { readClientReference } from '../bind/bind-options.js';
import { readCaFile } from '../bind/ca-file.js';
import { asPluginError } from '../api-failure.js';
import type { CommandContext, Session } from '../command-context.js';
import { checkBackend } from '../doctor/backend-checks.js';
import { checkCertificates } from '../doctor/certificates.js';
import { failed, type Check } from '../doctor/check.js';
import { checkClient } from '../doctor/client-checks.js';
import { checkClock, type ClockReading } from '../doctor/clock.js';
import { checkHandshake } from '../doctor/handshake-fit.js';
import { checkKcpVersion } from '../doctor/kcp-version.js';
import { answers, serverClock } from '../doctor/probes.js';
import { checkProxies } from '../doctor/proxy.js';
import { renderChecks, showChecks } from '../doctor/render.js';
import { backendTargets } from '../doctor/targets.js';
import { EXIT_CODES } from '../exit-codes.js';
import { textFlag } from '../flag-values.js';
import { listConnections } from '../objects.js';
import type { FlagValues } from '../options.js';
import { createColors } from '../output/colors.js';
import type { Connection } from '../typed-objects.js';

/**
 * `kubectl kcp bind doctor [URL]`: looks at everything that binding needs, one after the other, and goes on where
 * something is wrong. Writes nothing.
 *
 * @returns `notReady` when a check failed
 */
export async function doctor(context: CommandContext, operand: unknown, flags: FlagValues): Promise<number> {
  const url = typeof operand === 'string' ? parseBackendUrl(operand).url : undefined;
  const ca = await readCaFile(context, textFlag(flags, 'caFile'));
  const reference = readClientReference(flags);
  const checks: Check[] = [];
  const session = await open(context, checks);
  const connections = session === undefined ? [] : await lookAtKcp(context, session, checks);
  if (session !== undefined) {
    checks.push(
      ...(await guarded(context, session, 'client-export', () => checkClient(context, session, reference))),
    );
  }
  const targets = backendTargets(connections, url, ca);
  const readings: ClockReading[] = [];
  for (const target of targets) {
    const found = await checkBackend(context, target);
    checks.push(...found.checks);
    if (found.clock !== undefined) readings.push(found.clock);
  }
  checks.push(...readings.map((reading) => checkClock(reading, reading.of)));
  if (session !== undefined) {
    checks.push(
      ...checkProxies(
        context,
        session,
        targets.map((target) => target.url),
      ),
    );
  }
  const pages = await answers(context, connections);
  const { check, fit } = checkHandshake(connections, (page) => pages.get(page));
  checks.push(check);
  await showChecks(context, { checks, handshake: fit }, () =>
    renderChecks(checks, createColors(context.environment.color && context.environment.stdout.isTerminal)),
  );
  return checks.some(({ result }) => result === 'failed') ? EXIT_CODES.notReady : EXIT_CODES.ok;
}

/** A kubeconfig that cannot be used is a finding, not the end. */
async function open(context: CommandContext, checks: Check[]): Promise<Session | undefined> {
  try {
    const session = await context.session();
    checks.push({
      name: 'kubeconfig',
      result: 'ok',
      message: `workspace ${session.address.workspace} on ${session.address.base}`,
    });
    return session;
  } catch (error) {
    context.signal.throwIfAborted();
    const { message, remedy } = asPluginError(error, 'the API server');
    checks.push(failed('kubeconfig', message, remedy));
    return undefined;
  }
}

async function lookAtKcp(
  context: CommandContext,
  session: Session,
  checks: Check[],
): Promise<readonly Connection[]> {
  const { auth, ca } = session.credentials;
  const now = context.effects.clock.now();
  if (ca !== undefined) {
    checks.push(checkCertificates('kcp-ca', "the kubeconfig's certificate-authority", ca, now));
  }
  if (auth.kind === 'certificate') {
    checks.push(
      checkCertificates('client-certificate', "the kubeconfig's client certificate", auth.cert, now),
    );
  }
  const version = await guarded(context, session, 'kcp-version', async () => {
    const answer = await session.client.raw('GET', '/version', undefined, { signal: context.signal });
    return [checkKcpVersion(answer, session.address.base)];
  });
  checks.push(...version);
  // Nothing else can be asked of a server that does not answer.
  if (version.some(({ result }) => result === 'failed')) return [];
  checks.push(checkClock(await serverClock(context, session), 'kcp'));
  try {
    return (await listConnections(session.client, context.signal)) ?? [];
  } catch {
    context.signal.throwIfAborted();
    return [];
  }
}

async function guarded(
  context: CommandContext,
  session: Session,
  name: string,
  look: () => Promise<Check[]>,
): Promise<Check[]> {
  try {
    return await look();
  } catch (error) {
    context.signal.throwIfAborted();
    const { message, remedy } = asPluginError(error, session.address.server);
    return [failed(name, message, remedy)];
  }
}
