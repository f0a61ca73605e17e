import type { ReflectorEvent } from '../../../kube/cache/reflector.js';
import { isStatus } from '../../../kube/errors.js';
import type { GateProblem } from './side-gate.js';
import { failureText } from './write-failure.js';

/** Watches end and are resumed all the time; so many failures in a row are more than that. */
const WATCH_FAILURES = 3;

/** What a failing watch says about its server; undefined for what is routine. Pure. */
export function reflectorProblem(event: ReflectorEvent): GateProblem | undefined {
  if (event.type !== 'error' || event.phase === 'sink') return undefined;
  if (event.phase === 'watch' && event.failures < WATCH_FAILURES) return undefined;
  const message = failureText(event.error);
  if (isStatus(event.error, 403)) return { reason: 'forbidden', message };
  if (isStatus(event.error, 401)) return { reason: 'unauthorized', message };
  if (event.notServed) return { reason: 'notServed', message };
  return { reason: 'unreachable', message };
}
