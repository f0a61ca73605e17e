import type { KubeClient } from '../../kube/client.js';
import type { ObjectStore } from '../../kube/cache/object-store.js';
import type { KubeObject, LogicalCluster } from '../../kube/object.js';
import type { ConnectUrl } from '../../vw-client/virtual-workspace.js';
import { objectsAt, textAt } from '../views.js';

/** One workspace as a generated export's virtual workspace shows it, on one shard's URL. */
export interface GeneratedWorkspace {
  readonly url: string;
  /** Paths below `<url>/clusters/<logical cluster>`, with the controller's own rights. */
  readonly client: KubeClient;
  /** Paths below `<url>/clusters/*`. */
  readonly everywhere: KubeClient;
}

/** URLs of a generated export's virtual workspace; a shard without a binding to it is not listed. */
export class GeneratedWorkspaces {
  readonly #slices: ObjectStore;
  readonly #client: LogicalCluster;
  readonly #connect: ConnectUrl;
  readonly #clients = new Map<string, KubeClient>();

  /** @param slices APIExportEndpointSlices of the client workspace, named like their exports */
  constructor(slices: ObjectStore, clientCluster: LogicalCluster, connect: ConnectUrl) {
    this.#slices = slices;
    this.#client = clientCluster;
    this.#connect = connect;
  }

  /** As the followed endpoint slice lists them. */
  in(exportName: string, cluster: LogicalCluster): readonly GeneratedWorkspace[] {
    return this.ofSlice(this.#slices.get({ cluster: this.#client, name: exportName }), cluster);
  }

  ofSlice(slice: KubeObject | undefined, cluster: LogicalCluster): readonly GeneratedWorkspace[] {
    const urls = objectsAt(slice, 'status', 'endpoints').flatMap((endpoint) => textAt(endpoint, 'url') ?? []);
    return urls.map((listed) => {
      const url = listed.replace(/\/+$/, '');
      const client = this.#clientFor(url);
      return { url, client: client.at(`/clusters/${cluster}`), everywhere: client.at('/clusters/*') };
    });
  }

  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.all(clients.map((client) => client.close()));
  }

  /** All exports of a shard share its connections: their URLs differ in the last two segments only. */
  #clientFor(url: string): KubeClient {
    const tail = /\/[^/]+\/[^/]+$/.exec(url)?.[0] ?? '';
    const base = url.slice(0, url.length - tail.length);
    let client = this.#clients.get(base);
    if (client === undefined) {
      client = this.#connect(base);
      this.#clients.set(base, client);
    }
    return client.at(tail);
  }
}
