import type { ConditionState } from '../../api/conditions.js';
import type { Account } from '../../state/records.js';
import type { LogicalCluster } from '../../kube/object.js';
import type { BindingReport } from '../../syncer/protocol/report.js';
import type { KubeObject } from '../../kube/object.js';
import type { BindingObservation } from '../binding/observation.js';
import { generatedExport } from '../binding/manifests.js';
import { generatedNames } from '../binding/owner.js';
import { planSchemas } from '../binding/schema-plan.js';
import { WorkspaceClaims } from '../claims.js';
import type { ConnectionObservation } from '../connection/observation.js';
import { CREDENTIALS, converted, widgetSpec } from './fake-world.js';

export const NOW = Date.parse('2026-06-01T12:00:00Z');
export const HOME = { path: 'root:kube-bind', cluster: 'client0cluster' };
export const REF = { cluster: 'workspace1' as LogicalCluster, name: 'b', uid: 'b-uid' };

const EVERY_VERB = new Set(['*']);

/** Claims of a workspace that has accepted these resources (`resource.group`), with every verb. */
export function claims(...accepted: readonly string[]): WorkspaceClaims {
  return new WorkspaceClaims(new Map(accepted.map((key) => [key, EVERY_VERB])), 'kube-bind');
}

export const EVERYTHING = claims(
  'logicalclusters.core.kcp.io',
  'apibindings.apis.kcp.io',
  'secrets.',
  'configmaps.',
  'namespaces.',
  'events.',
);

export const ACCOUNT: Account = {
  source: 'handshake',
  credentials: CREDENTIALS,
  contractNamespace: 'contract',
  offers: [],
  obtainedAt: '2026-06-01T11:00:00Z',
};

/** A connection with a backend that answers, before any login. */
export function connectionObservation(change: Partial<ConnectionObservation> = {}): ConnectionObservation {
  return {
    now: NOW,
    deleting: false,
    hasFinalizer: true,
    spec: { backend: { url: 'https://backend.test' } },
    workspaceDying: false,
    claims: EVERYTHING,
    state: { connection: { cluster: REF.cluster, name: 'c', uid: 'c-uid' } },
    loginPublished: false,
    handshakeServed: true,
    provider: { kind: 'reachable', prettyName: 'Test', version: 'v0.8.2' },
    secret: undefined,
    bindings: [],
    leftovers: 0,
    ...change,
  };
}

export const yes = (reason: string): ConditionState => ({ status: 'True', reason, message: '' });
export const no = (reason: string): ConditionState => ({
  status: 'False',
  reason,
  message: `because ${reason}`,
});

/** A report of a worker that has nothing to complain of. */
export function report(change: Partial<BindingReport> = {}): BindingReport {
  return {
    key: `${REF.cluster}|${REF.uid}`,
    revision: 1,
    conditions: {
      Connected: yes('Connected'),
      ExportReady: yes('ExportReady'),
      SchemaInSync: yes('InSync'),
      Syncing: yes('Syncing'),
    },
    contractNamespaceUid: 'contract-uid',
    schemas: [converted(widgetSpec())],
    claims: [],
    sync: { objects: 1, pending: 0, failing: 0 },
    drained: false,
    left: false,
    remaining: [],
    namespaces: [],
    ...change,
  };
}

export const SCHEMAS = planSchemas(REF, [converted(widgetSpec())], { live: [] });

/** The export as it is when everything was done; `claims` beside the one on apibindings. */
export function finishedExport(
  change: { readonly contractUid?: string; readonly bindByUser?: boolean } = {},
): KubeObject {
  if (SCHEMAS.kind !== 'usable') throw new Error('the schema of the tests is not usable');
  const plan = {
    ref: REF,
    namespace: 'kube-bind',
    connection: { name: 'c', uid: 'c-uid' },
    contractNamespaceUid: change.contractUid ?? 'contract-uid',
    request: 'widgets',
    deletionPolicy: 'Delete' as const,
    schemas: SCHEMAS.schemas.map(({ name, group, resource }) => ({ name, group, resource })),
    claims: [{ group: 'apis.kcp.io', resource: 'apibindings', verbs: ['get', 'delete'] }],
    bindByUser: change.bindByUser ?? false,
  };
  const object = generatedExport(plan);
  return { ...object, status: { identityHash: 'hash' } };
}

/** Our APIBinding, bound and served unless changed. */
export function apiBinding(change: Partial<KubeObject> = {}): KubeObject {
  return {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: generatedNames(REF).apiBinding, uid: 'apibinding-uid', resourceVersion: '7' },
    spec: {
      reference: { export: { path: HOME.path, name: generatedNames(REF).exportName } },
      permissionClaims: [
        {
          group: 'apis.kcp.io',
          resource: 'apibindings',
          verbs: ['get', 'delete'],
          selector: { matchAll: true },
          state: 'Accepted',
        },
      ],
    },
    status: { phase: 'Bound', conditions: [] },
    ...change,
  };
}

/** A binding that is served and synced. */
export function bindingObservation(change: Partial<BindingObservation> = {}): BindingObservation {
  return {
    now: NOW,
    home: HOME,
    namespace: 'kube-bind',
    ref: REF,
    exists: true,
    deleting: false,
    hasFinalizer: true,
    force: false,
    spec: { connection: 'c', template: 'widgets' },
    workspaceDying: false,
    connection: {
      kind: 'present',
      name: 'c',
      uid: 'c-uid',
      deleting: false,
      account: ACCOUNT,
      stateName: 'connection-0123456789abcdef0123',
    },
    beats: true,
    claims: EVERYTHING,
    latest: report(),
    fresh: report(),
    schemas: SCHEMAS,
    generated: finishedExport(),
    missing: undefined,
    failure: undefined,
    apiBinding: { kind: 'found', object: apiBinding(), ours: true },
    access: {
      kind: 'served',
      access: {
        credentials: { server: 'https://vw.test/clusters/workspace1', auth: { kind: 'token', token: 't' } },
        apis: [
          {
            group: 'example.test',
            version: 'v1',
            resource: 'widgets',
            kind: 'Widget',
            scope: 'Namespaced',
            hasStatus: true,
          },
        ],
        schemas: 'a',
      },
    },
    working: false,
    progress: { drained: false, cleaned: false },
    namespacesInUse: undefined,
    ...change,
  };
}
