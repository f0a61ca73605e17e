import { isJsonObject } from '../../../src/kube/json-value.js';
import { KubeError } from '../../../src/kube/errors.js';
import type { CommandContext, Session } from '../command-context.js';
import type { Connection } from '../typed-objects.js';
import type { ClockReading } from './clock.js';

const PAGE_TIMEOUT_MS = 5000;

/** The time of the API server, from an object that it makes in a dry run; undefined where it makes none. */
export async function serverClock(
  context: CommandContext,
  session: Session,
): Promise<ClockReading | undefined> {
  const { clock } = context.effects;
  const body = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kubectl-kcp-bind-doctor', namespace: 'default' },
  };
  const asked = clock.now();
  try {
    const path = '/api/v1/namespaces/default/configmaps?dryRun=All';
    const made = await session.client.raw('POST', path, body, { signal: context.signal });
    const metadata = isJsonObject(made) && isJsonObject(made['metadata']) ? made['metadata'] : {};
    const created = metadata['creationTimestamp'];
    const theirs = typeof created === 'string' ? Date.parse(created) : Number.NaN;
    if (Number.isNaN(theirs)) return undefined;
    return { of: 'kcp', theirs, asked, answered: clock.now() };
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof KubeError) return undefined;
    throw error;
  }
}

/**
 * Whether the hosts of published login pages answer this machine, whatever they answer. The page itself is not opened:
 * its URL belongs to one login. A status can be written by whoever rules the workspace, so that only the origin of a
 * plain http(s) URL is asked.
 */
export async function answers(
  context: CommandContext,
  connections: readonly Connection[],
): Promise<ReadonlyMap<string, boolean>> {
  const page = connections
    .map(({ status }) => status?.authentication?.url)
    .find((url) => url !== undefined && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol));
  if (page === undefined) return new Map();
  const http = await context.effects.createHttp();
  try {
    await http.request({
      method: 'GET',
      url: `${new URL(page).origin}/healthz`,
      timeoutMs: PAGE_TIMEOUT_MS,
      signal: context.signal,
    });
    return new Map([[page, true]]);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof KubeError) return new Map([[page, false]]);
    throw error;
  } finally {
    await http.close();
  }
}
