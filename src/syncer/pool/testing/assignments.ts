import type { LogicalCluster } from '../../../kube/object.js';
import type { SyncerOptions } from '../../protocol/assignment.js';
import type { AssignmentContent } from '../pool-entry.js';

export const testOptions: SyncerOptions = {
  absenceGraceMs: 1000,
  requestTimeoutMs: 1000,
  watchSilenceMs: 1000,
  backoffBaseMs: 10,
  backoffMaxMs: 1000,
  heartbeatIntervalMs: 300_000,
  reportIntervalMs: 100,
  concurrency: 2,
  providerQps: 100,
  dialPolicy: { allowHosts: [], allowCidrs: ['127.0.0.0/8'], denyCidrs: [], allowProxy: false },
};

export function content(key: string, change: Partial<AssignmentContent> = {}): AssignmentContent {
  return {
    key,
    stage: 'prepare',
    cluster: `cluster-of-${key}` as LogicalCluster,
    bindingName: key,
    bindingUid: `uid-of-${key}`,
    provider: {
      credentials: { server: 'https://provider', auth: { kind: 'token', token: 'secret' } },
      contractNamespace: 'contract',
    },
    request: { name: 'cowboys' },
    claims: [],
    conflictPolicy: 'Fail',
    deletionPolicy: 'Delete',
    paused: false,
    force: false,
    namespacesInUse: [],
    ...change,
  };
}
