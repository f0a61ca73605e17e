import { beforeAll, describe, expect, it } from '@jest/globals';

import { readBench } from '../../harness/bench.js';
import { installClient, type ClientInstallation } from '../../harness/client-installation.js';
import { kubectl } from '../../harness/kubectl.js';
import { ROOT } from '../../harness/root.js';
import { uniqueName } from '../../harness/workspaces.js';

describe('kubectl apply -k apiexport', () => {
  const bench = readBench();
  let installation: ClientInstallation;

  beforeAll(async () => {
    installation = await installClient(bench.consumers, uniqueName('install'));
  });

  it('changes nothing when it is applied again', async () => {
    const output = await kubectl(installation.workspace.kubeconfig, ['apply', '-k', `${ROOT}/apiexport`]);
    const lines = output.trim().split('\n');
    expect(lines.length).toBeGreaterThan(10);
    expect(lines.filter((line) => !line.endsWith(' unchanged'))).toEqual([]);
  });
});
