import { BINDINGS, CONNECTIONS, GROUP } from '../../api/group.js';
import { GVR } from '../../api/gvr.js';
import type { Gvr } from '../../api/gvr.js';
import type { BackendApi } from '../../backend/http/backend-api.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import { ApiError, TransportError } from '../../kube/errors.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { describe as describeSchema } from '../../schema/convert.js';
import type { ResourceSchemaSpec } from '../../schema/resource-schema.js';
import type { ConvertedSchema } from '../../syncer/protocol/report.js';
import { silentLogger } from '../../telemetry/logger.js';
import { GENERATED_SELECTOR } from '../binding/owner.js';
import type { ReconcilerDeps } from '../deps.js';
import { silentMetrics } from '../metrics.js';
import { startControllers } from '../start-controllers.js';
import type { Controllers } from '../start-controllers.js';
import type { StepName } from '../steps.js';
import type { WriteGate } from './fake-client.js';
import { CLIENT_CLUSTER, CLIENT_EXPORT, FakeKcp, HOME, INSTANCES, NAMESPACE } from './fake-kcp.js';
import { FakePool } from './fake-pool.js';
import type { FakeWorker } from './fake-pool.js';
import { FakeStateDisk } from './fake-states.js';

export const WORKSPACE = 'workspace1' as LogicalCluster;
export const ALL_CLAIMS = [
  'logicalclusters',
  'apibindings',
  'secrets',
  'configmaps',
  'serviceaccounts',
  'namespaces',
  'events',
];

export const CREDENTIALS: ServerCredentials = {
  server: 'https://provider.test',
  auth: { kind: 'token', token: 'provider-token' },
  namespace: 'contract',
};

export function widgetSpec(extra: Readonly<Record<string, unknown>> = {}): ResourceSchemaSpec {
  return {
    group: INSTANCES.group,
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          type: 'object',
          properties: {
            spec: { type: 'object', properties: { size: { type: 'integer' }, ...(extra as object) } },
          },
        },
        subresources: { status: {} },
      },
    ],
  };
}

export function converted(spec: ResourceSchemaSpec): ConvertedSchema {
  return describeSchema(spec);
}

/**
 * What happens at one write: the process dies before or after it, somebody else's change is in the way, or the
 * write is done and its answer lost.
 */
export interface Accident {
  readonly atWrite: number;
  readonly kind: 'dies-before' | 'dies-after' | 'conflict' | 'lost-answer';
}

/** Thrown at a write by a process that is dead. */
export class DeadProcessError extends Error {
  override readonly name = 'DeadProcessError';
}

/** One run of the controllers, with its own memory. */
export interface FakeProcess {
  readonly pool: FakePool;
  readonly controllers: Controllers;
  /** Writes that reached the world. */
  writes: number;
  readonly steps: StepName[];
  dead: boolean;
}

/** What outlives processes: kcp, connection states, time, and what workers and backends say. */
export class FakeWorld {
  readonly kcp = new FakeKcp();
  readonly disk = new FakeStateDisk();
  readonly clock: ManualClock;
  schemas: readonly ConvertedSchema[] = [converted(widgetSpec())];
  worker: FakeWorker = (assignment) => this.goodWorker(assignment);
  provider: BackendApi['provider'] = async () => ({
    prettyName: 'Test',
    version: 'v0.8.2',
    authorizeEndpoint: '',
  });
  externalUrl: string | undefined = 'https://login.test';
  #random = 0;

  constructor(startMs?: number) {
    this.clock = new ManualClock(startMs);
    this.kcp.objects.now = () => this.clock.now();
  }

  /** Another world in the same state, without processes. */
  fork(): FakeWorld {
    const world = new FakeWorld(this.clock.now());
    world.kcp.objects.load(this.kcp.objects);
    world.disk.load(this.disk);
    world.#random = this.#random;
    return world;
  }

  /** A worker for which everything goes well. */
  readonly goodWorker: FakeWorker = ({ stage }) => {
    const good = { status: 'True', message: '' } as const;
    const syncing =
      stage === 'sync'
        ? { ...good, reason: 'Syncing' }
        : ({ status: 'Unknown', reason: 'Pending', message: 'not yet' } as const);
    const drained = stage === 'drain' || stage === 'leave';
    return {
      conditions: {
        Connected: { ...good, reason: 'Connected' },
        ExportReady: { ...good, reason: 'ExportReady' },
        SchemaInSync: { ...good, reason: 'InSync' },
        Syncing: drained ? { status: 'False', reason: 'Draining', message: 'draining' } : syncing,
      },
      contractNamespaceUid: 'contract-uid',
      provider: { prettyName: 'Test' },
      schemas: this.schemas,
      claims: [],
      heartbeat: { ...good, reason: 'Beating' },
      drained,
      left: stage === 'leave',
      remaining: stage === 'leave' ? ['APIServiceExport contract/widgets'] : [],
    };
  };

  /** Starts a process that has an accident at its n-th write. */
  start(accident?: Accident): FakeProcess {
    const pool = new FakePool((assignment) => this.worker(assignment));
    const state = { writes: 0, dead: false, steps: [] as StepName[] };
    const gate: WriteGate = (write) => {
      if (state.dead) throw new DeadProcessError('dead');
      state.writes += 1;
      const kind = state.writes === accident?.atWrite ? accident.kind : undefined;
      if (kind === 'dies-before') state.dead = true;
      if (kind === 'dies-before') throw new DeadProcessError('dies before a write');
      if (kind === 'conflict') throw new ApiError({ message: 'overtaken', status: 409, reason: 'Conflict' });
      const result = write();
      if (kind === 'dies-after') state.dead = true;
      if (kind === 'dies-after') throw new DeadProcessError('dies after a write');
      if (kind === 'lost-answer') throw new TransportError('reset', 'reset');
      return result;
    };
    const deps: ReconcilerDeps = {
      clientWorkspace: {
        client: this.kcp.clientWorkspace(gate),
        credentials: { server: 'https://home.test', auth: { kind: 'none' } },
        path: HOME.path,
        cluster: CLIENT_CLUSTER,
        namespace: NAMESPACE,
        exportName: CLIENT_EXPORT,
        generatedExports: this.kcp.store(GVR.apiExports, GENERATED_SELECTOR),
        endpointSlices: this.kcp.store(GVR.apiExportEndpointSlices),
      },
      workspaces: this.kcp.virtualWorkspace(gate),
      states: this.disk.open(gate),
      pool,
      connectUrl: this.kcp.generatedWorkspaces(gate),
      ownCredentials: (url) => ({ server: url, auth: { kind: 'none' } }),
      connect: () => this.kcp.clientWorkspace(gate),
      backend: () => ({ provider: this.provider }) as BackendApi,
      externalUrl: this.externalUrl,
      allowProxy: false,
      clock: this.clock,
      random: () => 0.5,
      randomBytes: (bytes) => new Uint8Array(bytes).fill(++this.#random),
      log: silentLogger(),
      metrics: silentMetrics(),
      concurrency: 4,
      stepHook: (step, moment) => {
        if (moment === 'before' && !state.dead) state.steps.push(step);
      },
    };
    const controllers = startControllers(deps);
    return Object.assign(state, { pool, controllers });
  }

  /** Lets time pass; everything that is due happens. */
  async run(ms = 20_000): Promise<void> {
    await this.clock.advance(ms);
  }

  createConnection(name: string, spec: KubeObject['spec'] & object): KubeObject {
    return this.#create(CONNECTIONS, 'KubeBindConnection', name, spec);
  }

  createBinding(name: string, spec: KubeObject['spec'] & object): KubeObject {
    return this.#create(BINDINGS, 'KubeBindBinding', name, spec);
  }

  connection(name: string): KubeObject | undefined {
    return this.kcp.objects.find(CONNECTIONS, WORKSPACE, name);
  }

  binding(name: string): KubeObject | undefined {
    return this.kcp.objects.find(BINDINGS, WORKSPACE, name);
  }

  /** The handshake has stored an account. */
  login(name: string): void {
    const uid = this.connection(name)?.metadata.uid ?? '';
    const connection = { cluster: WORKSPACE, name, uid };
    const before = this.disk.states.get([...this.disk.states.keys()][0] ?? '')?.value;
    this.disk.put({
      ...(before?.connection.uid === uid ? before : { connection }),
      account: {
        source: 'handshake',
        credentials: CREDENTIALS,
        contractNamespace: 'contract',
        offers: [
          {
            template: 'widgets',
            resources: [{ group: INSTANCES.group, resource: 'widgets', versions: ['v1'] }],
            permissionClaims: [],
          },
        ],
        obtainedAt: '2026-01-01T00:00:00Z',
      },
    });
  }

  /** Names of what is left in the client workspace, the client export's own things aside. */
  generatedObjects(): string[] {
    const kinds: Gvr[] = [
      GVR.apiExports,
      GVR.apiResourceSchemas,
      GVR.secrets,
      GVR.serviceAccounts,
      GVR.clusterRoles,
      GVR.clusterRoleBindings,
    ];
    return kinds.flatMap((gvr) =>
      this.kcp.objects.list(gvr, CLIENT_CLUSTER).map(({ metadata }) => `${gvr.resource}/${metadata.name}`),
    );
  }

  #create(gvr: Gvr, kind: string, name: string, spec: KubeObject['spec'] & object): KubeObject {
    return this.kcp.objects.create(gvr, WORKSPACE, {
      apiVersion: `${GROUP}/v1alpha1`,
      kind,
      metadata: { name },
      spec,
    });
  }
}
