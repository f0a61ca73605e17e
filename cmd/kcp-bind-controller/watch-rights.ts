import type { KubeClient } from '../../src/kube/client.js';
import type { Clock } from '../../src/kube/clock.js';
import type { Logger } from '../../src/telemetry/logger.js';
import type { Readiness } from './readiness.js';
import { readRights, type RightsAnswer } from './rights.js';

/** Name of the check in `/readyz`. */
export const RIGHTS_CHECK = 'rights';

/** A missing right is looked for again soon, so that the admin sees that his remedy works. */
const MISSING_MS = 5_000;
const COMPLETE_MS = 5 * 60_000;

/**
 * Asks kcp, now and then, which of its rights in the client workspace the controller has, and names those that it
 * lacks in `/readyz` and in the log. A missing right shows elsewhere late or not at all: kcp answers a virtual
 * workspace that nobody has bound yet in the same way as one that may not be read. Never rejects.
 */
export async function watchRights(
  parts: {
    readonly client: KubeClient;
    readonly namespace: string;
    readonly readiness: Readiness;
    readonly clock: Pick<Clock, 'sleep'>;
    readonly log: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const { client, namespace, readiness, clock, log } = parts;
  let told = '';
  while (!signal.aborted) {
    const answer = await ask(client, namespace, signal);
    const message = wordsOf(answer, client.baseUrl, namespace);
    readiness.set(RIGHTS_CHECK, answer.kind !== 'missing', message);
    if (message !== told && answer.kind === 'missing') log.error({ component: RIGHTS_CHECK }, message);
    else if (message !== told && told !== '') log.info({ component: RIGHTS_CHECK }, message);
    told = message;
    await clock.sleep(answer.kind === 'complete' ? COMPLETE_MS : MISSING_MS, signal).catch(() => undefined);
  }
}

async function ask(client: KubeClient, namespace: string, signal: AbortSignal): Promise<RightsAnswer> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews';
  try {
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview' };
    return readRights(await client.raw('POST', path, { ...review, spec: { namespace } }, { signal }));
  } catch {
    // Whatever keeps kcp from answering is told by those who need kcp.
    return { kind: 'unknown' };
  }
}

function wordsOf(answer: RightsAnswer, url: string, namespace: string): string {
  switch (answer.kind) {
    case 'complete':
      return 'all that is needed';
    case 'unknown':
      return 'kcp does not tell which rights the controller has';
    case 'missing':
      return (
        `the controller's account lacks rights in ${url} (namespaced ones in ${namespace}): ` +
        `${answer.missing.join('; ')}; apply apiexport/controller.yaml again`
      );
  }
}
