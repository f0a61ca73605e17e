import { describe, expect, it } from '@jest/globals';
import type { KubeClient } from '../../kube/client.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import { ApiError } from '../../kube/errors.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { fakeClient } from '../testing/fake-client.js';
import { FakeObjects } from '../testing/fake-objects.js';
import { REF } from '../testing/observations.js';
import { AccountTokens } from './account-tokens.js';
import { ConsumerAccessResolver } from './consumer-access.js';
import type { GeneratedWorkspace } from './generated-workspace.js';

const API = {
  group: 'example.test',
  version: 'v1',
  resource: 'widgets',
  kind: 'Widget',
  scope: 'Namespaced' as const,
  hasStatus: true,
};
const LOCAL = 'https://local.test/services/apiexport/x/y';
const REMOTE = 'https://remote.test/services/apiexport/x/y';
const HOME = 'https://home.test/clusters/root:kube-bind';
const OWN: ServerCredentials['auth'] = { kind: 'certificate', cert: 'c', key: 'k' };

/** A shard answers a probe with what `serves` says; the remote one knows no account of ours. */
function setUp(serves: (url: string) => number = () => 200) {
  const clock = new ManualClock();
  const objects = new FakeObjects();
  const probes: string[] = [];
  const refuse = (status: number): void => {
    if (status !== 200) throw new ApiError({ message: `status ${status}`, status, reason: '' });
  };
  const client = (admit: () => void, raw?: KubeClient['raw']): KubeClient => ({
    ...fakeClient(objects, 'x', { admit, gate: (write) => write() }),
    ...(raw === undefined ? {} : { raw }),
  });
  const ended = new Set<string>();
  /** Tokens that become known everywhere only after so many requests with them. */
  const late = new Map<string, number>();
  let requests = 0;
  const api = client(
    () => undefined,
    async () => {
      requests += 1;
      const expirationTimestamp = new Date(clock.now() + 3_600_000).toISOString();
      return { status: { token: `token-${requests}`, expirationTimestamp } };
    },
  );
  const tokens = new AccountTokens(api, 'ns', clock);
  const resolver = new ConsumerAccessResolver({
    tokens,
    ownCredentials: (url) => ({ server: url, ca: 'CA', auth: OWN }),
    home: { server: HOME, auth: OWN },
    connect: ({ server, auth }) =>
      client(() => {
        if (auth.kind !== 'tokens') return;
        const [first = ''] = auth.tokens;
        const wait = late.get(first) ?? 0;
        late.set(first, wait - 1);
        const ends = auth.tokens.some((token) => ended.has(token));
        refuse(server.startsWith('https://remote') || ends || wait > 0 ? 401 : 200);
      }),
    clock,
    requestToken: (_ref, account) => tokens.request(account),
  });
  const workspaces = (urls: readonly string[]): GeneratedWorkspace[] =>
    urls.map((url) => {
      const probed = client(() => {
        probes.push(url);
        refuse(serves(url));
      });
      return { url, client: probed, everywhere: probed };
    });
  const resolve = (urls: readonly string[], signature = 's') =>
    resolver.resolve(REF, 'account', { workspaces: workspaces(urls), apis: [API], schemas: 'a', signature });
  return { clock, resolver, resolve, probes, tokens, ended, late, requests: () => requests };
}

/** The tokens of the nth time that tokens were asked for. */
const issued = (nth: number): string[] =>
  Array.from({ length: 8 }, (_, i) => `token-${8 * (nth - 1) + i + 1}`);

describe('access to the consumer', () => {
  it('is by tokens of the export’s own account on the shard of the client workspace', async () => {
    const { resolve } = setUp();
    expect(await resolve([LOCAL])).toEqual({
      kind: 'served',
      access: {
        apis: [API],
        schemas: 'a',
        credentials: {
          server: `${LOCAL}/clusters/${REF.cluster}`,
          ca: 'CA',
          auth: { kind: 'tokens', tokens: issued(1) },
        },
      },
    });
  });

  it('is the controller’s own certificate on a shard that does not know the account', async () => {
    const { resolve, resolver, requests, clock } = setUp();
    for (let i = 0; i < 5; i++) {
      expect(await resolve([REMOTE])).toMatchObject({ access: { credentials: { auth: OWN } } });
      await clock.advance(30_000);
    }
    expect(resolver.shardsWithOwnCredentials).toEqual(['https://remote.test']);
    expect(requests()).toBe(8);
  });

  it.each([1, 2])(
    'is never the controller’s own because a new token is not known for a moment (for %i requests)',
    async (refusals) => {
      const { resolve, resolver, late } = setUp();
      late.set('token-1', refusals);
      const first = await resolve([LOCAL]).catch((error: unknown) => error);
      const expected =
        refusals === 1
          ? { kind: 'served', access: { credentials: { auth: { kind: 'tokens', tokens: issued(1) } } } }
          : { status: 401 };
      expect(first).toMatchObject(expected);
      expect(resolver.shardsWithOwnCredentials).toEqual([]);
      expect(await resolve([LOCAL])).toMatchObject({
        access: { credentials: { auth: { kind: 'tokens', tokens: issued(refusals) } } },
      });
    },
  );

  it('is on the shard that serves the workspace, asked once for each state of the APIBinding', async () => {
    const { resolve, probes } = setUp((url) => (url === LOCAL ? 200 : 403));
    const urls = [REMOTE, LOCAL];
    expect(await resolve(urls)).toMatchObject({ kind: 'served' });
    expect(await resolve(urls)).toMatchObject({ kind: 'served' });
    expect(probes).toEqual([REMOTE, LOCAL]);
    await resolve(urls, 'changed');
    expect(probes).toHaveLength(4);
  });

  it('is looked for again when its URL is not listed any more', async () => {
    const { resolve, probes } = setUp();
    await resolve([LOCAL]);
    await resolve([REMOTE]);
    expect(probes).toEqual([LOCAL, REMOTE]);
  });

  it('is none, with a reason, while nothing answers', async () => {
    const { resolve } = setUp(() => 404);
    expect(await resolve([LOCAL])).toEqual({ kind: 'not-served', message: 'status 404' });
    expect(await resolve([])).toMatchObject({ kind: 'not-served' });
  });

  it('gets other tokens where the worker has no use for the old ones, and kcp has none either', async () => {
    const { resolve, resolver, ended, requests } = setUp();
    const access = async () => {
      const view = await resolve([LOCAL]);
      return view.kind === 'served' ? view.access.credentials.auth : undefined;
    };
    await access();
    resolver.doubt(REF);
    expect(await access()).toEqual({ kind: 'tokens', tokens: issued(1) });
    ended.add('token-1');
    expect(await access()).toEqual({ kind: 'tokens', tokens: issued(1) });
    resolver.doubt(REF);
    expect(await access()).toEqual({ kind: 'tokens', tokens: issued(2) });
    expect(await access()).toEqual({ kind: 'tokens', tokens: issued(2) });
    expect(requests()).toBe(16);
    expect(resolver.shardsWithOwnCredentials).toEqual([]);
  });

  it('gets other tokens before the old ones end, and not sooner', async () => {
    const { resolve, clock, tokens } = setUp();
    const tokensNow = async () => {
      const access = await resolve([LOCAL]);
      return access.kind === 'served' && access.access.credentials.auth.kind === 'tokens'
        ? access.access.credentials.auth.tokens
        : undefined;
    };
    expect(await tokensNow()).toEqual(issued(1));
    await clock.advance(30 * 60_000);
    expect(await tokensNow()).toEqual(issued(1));
    await clock.advance(tokens.renewInMs('account') ?? 0);
    expect(await tokensNow()).toEqual(issued(2));
  });
});
