import type { ServerResponse } from 'node:http';

import type { FaultProxy, ProxiedRequest, Verdict } from '../../harness/fault-proxy.js';

const MEBIBYTE = 1024 * 1024;
const FILLER = 'x'.repeat(MEBIBYTE);

/** What a hostile provider answers in place of the truth; undefined: the truth. */
export type Poison = (request: ProxiedRequest) => Verdict | undefined;

const isWatch = ({ path }: ProxiedRequest): boolean => /[?&]watch=(true|1)/.test(path);
const isList = (request: ProxiedRequest, resource: string): boolean =>
  request.method === 'GET' &&
  !isWatch(request) &&
  new RegExp(`/namespaces/[^/]+/${resource}(\\?|$)`).test(request.path);
const isWatchOf = (request: ProxiedRequest, resource: string): boolean =>
  isWatch(request) && request.path.includes(`/${resource}?`);

function namespaceOf({ path }: ProxiedRequest): string {
  return /\/namespaces\/([^/?]+)/.exec(path)?.[1] ?? '';
}

/** A database of a mebibyte. */
function large(namespace: string, name: string): string {
  return `{"apiVersion":"example.org/v1","kind":"Database","metadata":{"name":"${name}","namespace":"${namespace}","uid":"${name}","resourceVersion":"5"},"spec":{"engine":"${FILLER}"}}`;
}

/** Pages of large objects, without end. */
export const endlessList: Poison = (request) => {
  if (isWatchOf(request, 'databases')) return gone();
  if (!isList(request, 'databases')) return undefined;
  const page = Number(new URL(request.path, 'https://server').searchParams.get('continue') ?? '0');
  const items = Array.from({ length: 6 }, (_, i) => large(namespaceOf(request), `page-${page}-${i}`));
  return {
    status: 200,
    body: `{"apiVersion":"example.org/v1","kind":"DatabaseList","metadata":{"resourceVersion":"5","continue":"${page + 1}"},"items":[${items.join(',')}]}`,
  };
};

/** A page that is small as text, and fifty times as much once it is parsed. */
export const denseList: Poison = (request) => {
  if (isWatchOf(request, 'databases')) return gone();
  if (!isList(request, 'databases')) return undefined;
  const dense = `[${'[],'.repeat(4 * MEBIBYTE)}0]`;
  return {
    status: 200,
    body: `{"apiVersion":"example.org/v1","kind":"DatabaseList","metadata":{"resourceVersion":"5"},"items":[],"more":${dense}}`,
  };
};

/** New large objects, without end. */
export const endlessWatch: Poison = (request) =>
  isWatchOf(request, 'databases')
    ? {
        write: (outgoing) => {
          let count = 0;
          pour(
            outgoing,
            () => `{"type":"ADDED","object":${large(namespaceOf(request), `event-${count++}`)}}\n`,
          );
        },
      }
    : undefined;

/** In each watch an event that is just not too large, and that never ends. */
export const unfinishedEvents: Poison = (request) =>
  isWatchOf(request, 'databases')
    ? {
        write: (outgoing) => {
          outgoing.write('{"type":"ADDED","object":{"apiVersion":"');
          for (let i = 0; i < 7; i++) outgoing.write(FILLER);
        },
      }
    : undefined;

/** An export of many APIs, each with a bound schema as large as an answer may be. */
export const largeSchemas: Poison = (request) => {
  if (isWatchOf(request, 'apiserviceexports')) return gone();
  if (isList(request, 'apiserviceexports')) return { status: 200, body: listOf(exportOfMany(request)) };
  if (request.method === 'GET' && request.path.endsWith('/apiserviceexports/databases'))
    return { status: 200, body: exportOfMany(request) };
  const schema = /\/boundschemas\/(things\d+)\./.exec(request.path)?.[1];
  if (schema === undefined) return undefined;
  return {
    status: 200,
    body: `{"apiVersion":"kube-bind.io/v1alpha2","kind":"BoundSchema","metadata":{"name":"${schema}.example.org"},"spec":{"group":"example.org","names":{"plural":"${schema}"},"padding":"${FILLER.repeat(8)}"}}`,
  };
};

function exportOfMany(request: ProxiedRequest): unknown {
  const resources = Array.from({ length: 60 }, (_, i) => ({
    group: 'example.org',
    resource: `things${i}`,
    versions: ['v1'],
  }));
  const metadata = {
    name: 'databases',
    namespace: namespaceOf(request),
    uid: 'poison',
    resourceVersion: '5',
    annotations: { 'kube-bind.io/source-spec-hash': 'poison' },
  };
  return {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceExport',
    metadata,
    spec: { resources, informerScope: 'Namespaced' },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  };
}

function listOf(item: unknown): unknown {
  return {
    apiVersion: 'kube-bind.io/v1alpha2',
    kind: 'APIServiceExportList',
    metadata: { resourceVersion: '5' },
    items: [item],
  };
}

function gone(): Verdict {
  return {
    status: 410,
    body: { apiVersion: 'v1', kind: 'Status', metadata: {}, status: 'Failure', code: 410, reason: 'Expired' },
  };
}

/** As fast as it is taken. */
function pour(outgoing: ServerResponse, next: () => string): void {
  let open = true;
  const more = (): void => {
    while (open && outgoing.write(next()));
  };
  outgoing.on('drain', more);
  outgoing.on('close', () => (open = false));
  more();
}

/** A provider that poisons some contract namespaces, and the namespaces that belong to them, and serves the others. */
export class Poisoner {
  readonly #proxy: FaultProxy;
  /** By contract namespace, with which the names of all its namespaces start. */
  readonly #poisons = new Map<string, Poison>();

  constructor(proxy: FaultProxy) {
    this.#proxy = proxy;
    proxy.setRule((request) => {
      const poison = this.#poisons.get([...this.#poisons.keys()].find((mark) => isIn(request, mark)) ?? '');
      return poison?.(request) ?? 'pass';
    });
  }

  /** From now on; what is under way is cut, so that it is asked for again. */
  poison(contractNamespace: string, poison: Poison): void {
    this.#poisons.set(contractNamespace, poison);
    this.#proxy.cut((request) => isIn(request, contractNamespace));
  }

  stop(): void {
    this.#poisons.clear();
  }
}

function isIn({ path }: ProxiedRequest, contractNamespace: string): boolean {
  return path.includes(`/namespaces/${contractNamespace}`);
}
