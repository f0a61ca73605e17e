import type { BackendApi } from '../backend/http/backend-api.js';
import type { Clock } from '../kube/clock.js';
import type { KubeClient } from '../kube/client.js';
import type { ServerCredentials } from '../kube/credentials.js';
import type { ObjectStore } from '../kube/cache/object-store.js';
import type { LogicalCluster } from '../kube/object.js';
import type { ConnectionStates } from '../state/connection-states.js';
import type { SyncerPool } from '../syncer/protocol/pool.js';
import type { Logger } from '../telemetry/logger.js';
import type { ConnectUrl, VirtualWorkspace } from '../vw-client/virtual-workspace.js';
import type { ConnectionSpec } from './views.js';
import type { ReconcilerMetrics } from './metrics.js';
import type { StepHook } from './steps.js';

/** The workspace with our export. Its client, like every other one here, is fenced by the lease. */
export interface ClientWorkspace {
  readonly client: KubeClient;
  /** How `client` gets there. */
  readonly credentials: ServerCredentials;
  /** For instance `root:kube-bind`. */
  readonly path: string;
  /** Name of its logical cluster. */
  readonly cluster: LogicalCluster;
  /** Namespace for state, accounts and identities. */
  readonly namespace: string;
  /** Name of the client export. */
  readonly exportName: string;
  /** APIExports that carry `GENERATED_SELECTOR`. Objects are keyed by `cluster`. */
  readonly generatedExports: ObjectStore;
  /** APIExportEndpointSlices, all of them. */
  readonly endpointSlices: ObjectStore;
}

/** Everything that the reconcilers do to the world, passed in. */
export interface ReconcilerDeps {
  readonly clientWorkspace: ClientWorkspace;
  /** The client export's virtual workspace. */
  readonly workspaces: VirtualWorkspace;
  readonly states: ConnectionStates;
  readonly pool: SyncerPool;
  /** Virtual workspaces of generated exports, with the controller's own rights. */
  readonly connectUrl: ConnectUrl;
  /** What `connectUrl` uses for a URL, to hand to a worker on a shard that knows no token of ours. */
  readonly ownCredentials: (url: string) => ServerCredentials;
  /** For trying a worker's token. */
  readonly connect: (credentials: ServerCredentials) => KubeClient;
  /** Throws BackendError `BACKEND_INVALID_URL`. */
  readonly backend: (spec: NonNullable<ConnectionSpec['backend']>) => BackendApi;
  /** URL of the login pages; undefined: there are none. */
  readonly externalUrl: string | undefined;
  /** Milliseconds that a published login can be used; ten minutes unless given. */
  readonly loginLifetimeMs?: number | undefined;
  readonly allowProxy: boolean;
  readonly clock: Clock;
  /** 0 up to 1, for jitter. */
  readonly random: () => number;
  /** Cryptographically strong. */
  readonly randomBytes: (bytes: number) => Uint8Array;
  readonly log: Logger;
  readonly metrics: ReconcilerMetrics;
  /** Keys worked on at the same time, for each kind. */
  readonly concurrency: number;
  readonly stepHook?: StepHook | undefined;
}
