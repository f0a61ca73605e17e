import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { KubeObject } from '../../../src/kube/object.js';

/** A request that the fake server saw. */
export interface SeenRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

/** Plays kcp and the controller: called after each write with the stored object, may change the store. */
export type Reaction = (object: KubeObject, workspace: FakeWorkspace) => void;

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/**
 * One kcp workspace in this process: stores objects of any cluster-scoped kind, knows merge patches, dry
 * runs, finalizers and uid preconditions. Our kinds are served only while an APIBinding is Bound.
 */
export class FakeWorkspace {
  readonly requests: SeenRequest[] = [];
  /** `<resource>/<name>` → object. */
  readonly objects = new Map<string, KubeObject>();
  /** May answer in place of the store. */
  intercept: ((request: SeenRequest) => Answer | undefined) | undefined;
  reaction: Reaction = () => undefined;
  /** Its clock. */
  now: () => number = Date.now;
  gitVersion = 'v1.33.3+kcp-v0.28.1';
  readonly #workspace: string;
  readonly #server: Server;
  #counter = 0;

  private constructor(workspace: string) {
    this.#workspace = workspace;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(workspace = 'root:org:team'): Promise<FakeWorkspace> {
    const fake = new FakeWorkspace(workspace);
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get server(): string {
    return `${this.origin}/clusters/${this.#workspace}`;
  }

  /** Requests that would have changed something. */
  get writes(): SeenRequest[] {
    return this.requests.filter(({ method, url }) => method !== 'GET' && !url.includes('dryRun=All'));
  }

  get(resource: string, name: string): KubeObject | undefined {
    return this.objects.get(`${resource}/${name}`);
  }

  /** Stores an object as it is, filling in what a server fills in. */
  put(resource: string, object: KubeObject): KubeObject {
    this.#counter += 1;
    const old = this.get(resource, object.metadata.name);
    const stored = structuredClone(object);
    stored.metadata = {
      uid: old?.metadata.uid ?? `uid-${this.#counter}`,
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...stored.metadata,
      annotations: { 'kcp.io/cluster': 'logical1', ...stored.metadata.annotations },
      generation: generationOf(old, object),
      resourceVersion: String(this.#counter),
    };
    this.objects.set(`${resource}/${object.metadata.name}`, stored);
    return stored;
  }

  /** Writes an object's status like a controller does. */
  setStatus(resource: string, name: string, status: KubeObject['status']): void {
    const object = this.get(resource, name);
    if (object !== undefined) this.put(resource, { ...object, status });
  }

  remove(resource: string, name: string): void {
    this.objects.delete(`${resource}/${name}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const seen: SeenRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
    this.requests.push(seen);
    const answer = this.intercept?.(seen) ?? this.#answer(seen);
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.body));
  }

  #answer(request: SeenRequest): Answer {
    const url = new URL(request.url, this.origin);
    if (url.pathname === `/clusters/${this.#workspace}/version`) {
      return { status: 200, body: { gitVersion: this.gitVersion } };
    }
    const group = new RegExp(`^/clusters/${this.#workspace}/apis/([^/]+)$`).exec(url.pathname)?.[1];
    if (group !== undefined && this.#isServed(group)) {
      return { status: 200, body: { preferredVersion: { groupVersion: `${group}/v1`, version: 'v1' } } };
    }
    const target = this.#target(url.pathname);
    if (target === undefined) {
      return failure(404, 'NotFound', 'the server could not find the requested resource');
    }
    const { apiVersion, name, resource } = target;
    return this.#serveTarget(request, url.searchParams, { apiVersion, name, resource });
  }

  #serveTarget(
    request: SeenRequest,
    query: URLSearchParams,
    target: { apiVersion: string; resource: string; name: string | undefined },
  ): Answer {
    const { apiVersion, name = '', resource } = target;
    const dryRun = query.get('dryRun') === 'All';
    const isApply = query.has('fieldManager') && this.get(resource, name) === undefined;
    switch (request.method) {
      case 'GET':
        return name === '' ? this.#list(apiVersion, resource) : this.#read(resource, name);
      case 'POST':
        return this.#create(resource, request.body as KubeObject, dryRun);
      case 'PATCH':
        return isApply
          ? this.#create(resource, request.body as KubeObject, dryRun)
          : this.#patch(resource, name, request.body as Record<string, unknown>);
      case 'DELETE':
        return this.#delete(resource, name, request.body);
      default:
        return failure(405, 'MethodNotAllowed', 'not in this fake');
    }
  }

  /** What a path is about; undefined where nothing is served there. Namespaces make no difference here. */
  #target(path: string): { apiVersion: string; resource: string; name: string | undefined } | undefined {
    const pattern =
      /^\/clusters\/([^/]+)\/(?:api|apis\/([^/]+))\/(v[^/]+)(?:\/namespaces\/[^/]+(?=\/))?\/([^/]+)(?:\/([^/]+))?$/;
    const [, workspace, group = '', version = '', resource = '', name] = pattern.exec(path) ?? [];
    if (workspace !== this.#workspace || !this.#isServed(group)) return undefined;
    return { apiVersion: group === '' ? version : `${group}/${version}`, resource, name };
  }

  #isServed(group: string): boolean {
    if (group !== 'kcp.kube-bind.io' && !group.endsWith('.dev')) return true;
    return [...this.objects.values()].some(
      (object) =>
        object.kind === 'APIBinding' &&
        (object['status'] as { phase?: string } | undefined)?.phase === 'Bound',
    );
  }

  #list(apiVersion: string, resource: string): Answer {
    const items = [...this.objects]
      .filter(([key]) => key.startsWith(`${resource}/`))
      .map(([, object]) => object);
    return { status: 200, body: { apiVersion, kind: 'List', metadata: { resourceVersion: '1' }, items } };
  }

  #read(resource: string, name: string): Answer {
    const object = this.get(resource, name);
    return object === undefined ? notFound(resource, name) : { status: 200, body: object };
  }

  #create(resource: string, object: KubeObject, dryRun: boolean): Answer {
    const { name } = object.metadata;
    if (this.get(resource, name) !== undefined)
      return failure(409, 'AlreadyExists', `${name} already exists`);
    if (dryRun) {
      const creationTimestamp = new Date(this.now()).toISOString().replace(/\.\d+/, '');
      const metadata = { ...object.metadata, uid: 'dry', creationTimestamp };
      return { status: 201, body: { ...object, metadata } };
    }
    const stored = this.put(resource, object);
    this.reaction(stored, this);
    return { status: 201, body: stored };
  }

  #patch(resource: string, name: string, patch: Record<string, unknown>): Answer {
    const old = this.get(resource, name);
    if (old === undefined) return notFound(resource, name);
    const stored = this.put(resource, mergePatch(old, patch) as KubeObject);
    if (old.metadata.deletionTimestamp !== undefined && (stored.metadata.finalizers ?? []).length === 0) {
      this.remove(resource, name);
      return { status: 200, body: stored };
    }
    this.reaction(stored, this);
    return { status: 200, body: stored };
  }

  #delete(resource: string, name: string, options: unknown): Answer {
    const object = this.get(resource, name);
    if (object === undefined) return notFound(resource, name);
    const uid = (options as { preconditions?: { uid?: string } } | undefined)?.preconditions?.uid;
    if (uid !== undefined && uid !== object.metadata.uid) return failure(409, 'Conflict', 'uid differs');
    if ((object.metadata.finalizers ?? []).length === 0) {
      this.remove(resource, name);
      return { status: 200, body: { apiVersion: 'v1', kind: 'Status', status: 'Success', metadata: {} } };
    }
    const metadata = { ...object.metadata, deletionTimestamp: '2026-01-01T01:00:00Z' };
    const stored = this.put(resource, { ...object, metadata });
    this.reaction(stored, this);
    return { status: 200, body: stored };
  }
}

/** A Status as a Kubernetes server answers it. */
export function failure(status: number, reason: string, message: string, details?: object): Answer {
  return {
    status,
    body: { apiVersion: 'v1', kind: 'Status', status: 'Failure', code: status, reason, message, details },
  };
}

function notFound(resource: string, name: string): Answer {
  return failure(404, 'NotFound', `${resource} "${name}" not found`, { name, kind: resource });
}

function generationOf(old: KubeObject | undefined, object: KubeObject): number {
  if (old === undefined) return object.metadata.generation ?? 1;
  const same = JSON.stringify(old['spec']) === JSON.stringify(object['spec']);
  return (old.metadata.generation ?? 1) + (same ? 0 : 1);
}

function mergePatch(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const base = typeof target === 'object' && target !== null && !Array.isArray(target) ? target : {};
  const result = new Map<string, unknown>(Object.entries(base));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, mergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}
