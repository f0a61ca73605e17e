import type { JsonValue } from '../../../src/kube/json-value.js';
import { isJsonObject } from '../../../src/kube/json-value.js';
import { printable } from '../output/printable.js';
import { failed, ok, warning, type Check } from './check.js';

/** What the client is tested with, and the first one whose APIs it speaks (APIBindings of v1alpha2). */
const TESTED = { major: 0, minor: 28 };

/** Reads kcp's `/version`: `v1.33.3+kcp-v0.28.1`. */
export function checkKcpVersion(answer: JsonValue, server: string): Check {
  const text = isJsonObject(answer) ? answer['gitVersion'] : undefined;
  const shown = printable(typeof text === 'string' ? text : '', 80);
  const [, major, minor] = /kcp-v?(\d+)\.(\d+)/.exec(shown) ?? [];
  if (major === undefined || minor === undefined) {
    return warning(
      'kcp-version',
      `${server} calls itself ${JSON.stringify(shown)}, which names no version of kcp`,
      'check that the kubeconfig leads to kcp; a build of your own may leave its version out',
    );
  }
  const version = `kcp v${major}.${minor}`;
  if (Number(major) === TESTED.major && Number(minor) < TESTED.minor) {
    return failed(
      'kcp-version',
      `${version} (${shown}) is older than v0.28, which the client needs`,
      'ask the platform admin to upgrade kcp',
    );
  }
  return ok('kcp-version', `${version} (${shown})`);
}
