import type { FaultProxy, ProxiedRequest, Verdict } from '../../harness/fault-proxy.js';

/** One way in which a server can withhold what it has. */
export interface Fault {
  readonly name: string;
  readonly answer: (request: ProxiedRequest) => Verdict;
  /** What becomes of the answers under way. */
  readonly begin: 'cut' | 'freeze';
  /** The client can tell, so a condition must. */
  readonly told: boolean;
}

const isWatch = ({ path }: ProxiedRequest): boolean => /[?&]watch=(true|1)/.test(path);
const isList = (request: ProxiedRequest): boolean =>
  request.method === 'GET' && !isWatch(request) && /\/databases(\?|$)/.test(request.path);

function status(code: number, reason: string): Verdict {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    reason,
    code,
    message: reason,
  };
  return { status: code, body };
}

/** Watches have to start from a list, and lists show nothing. */
function empty(request: ProxiedRequest): Verdict {
  if (isWatch(request)) return status(410, 'Expired');
  if (!isList(request)) return 'pass';
  const body = {
    apiVersion: 'example.org/v1',
    kind: 'DatabaseList',
    metadata: { resourceVersion: '1' },
    items: [],
  };
  return { status: 200, body };
}

export const FAULTS: readonly Fault[] = [
  { name: '403', answer: () => status(403, 'Forbidden'), begin: 'cut', told: true },
  { name: '404', answer: () => status(404, 'NotFound'), begin: 'cut', told: true },
  {
    name: '404 in plain text, as of a shard that is gone',
    answer: () => ({ status: 404, body: '404 page not found\n', headers: { 'content-type': 'text/plain' } }),
    begin: 'cut',
    told: true,
  },
  { name: '503', answer: () => status(503, 'ServiceUnavailable'), begin: 'cut', told: true },
  { name: 'resets', answer: () => 'drop', begin: 'cut', told: true },
  { name: 'silence', answer: () => 'hold', begin: 'freeze', told: true },
  { name: 'answers that break off', answer: () => ({ cutAfter: 40 }), begin: 'cut', told: true },
  { name: 'empty lists', answer: empty, begin: 'cut', told: false },
  // Only what is open is dead; whoever asks again is answered.
  { name: 'half-open watches', answer: () => 'pass', begin: 'freeze', told: false },
];

/** Puts faults between clients and a server, each for the requests that one tenant's path marks. */
export class Faults {
  readonly #proxy: FaultProxy;
  readonly #active = new Map<string, Fault>();

  constructor(proxy: FaultProxy) {
    this.#proxy = proxy;
    proxy.setRule((request) => {
      for (const [mark, fault] of this.#active) if (isAbout(request, mark)) return fault.answer(request);
      return 'pass';
    });
  }

  begin(mark: string, fault: Fault): void {
    this.#active.set(mark, fault);
    this.#proxy[fault.begin]((request) => isAbout(request, mark));
  }

  end(): void {
    this.#active.clear();
  }
}

/** About databases, at the place that the mark says: a cluster, or a namespace. */
function isAbout({ path }: ProxiedRequest, mark: string): boolean {
  return path.includes('/apis/example.org/') && path.includes(mark);
}
