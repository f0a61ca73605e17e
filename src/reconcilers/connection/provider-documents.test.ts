import { describe, expect, it } from '@jest/globals';
import { expectReason, type ProducedReason } from '../../api/testing/expect-reason.js';
import { createBackendApi } from '../../backend/http/backend-api.js';
import { answer, StubHttp } from '../../backend/testing/stub-http.js';
import { AddressDeniedError, TransportError } from '../../kube/errors.js';
import type { ForeignHttp } from '../../kube/foreign-http.js';
import { ManualClock, settle } from '../../kube/testing/manual-clock.js';
import type { QueueKey } from '../keys.js';
import type { ProviderProbe } from './observation.js';
import { ProviderDocuments } from './provider-documents.js';

const URL = 'https://bind.example.com';
const JSON_TYPE = 'application/json';

function document(change: Record<string, unknown> = {}, authenticatedURL = `${URL}/api/authorize`) {
  return {
    kind: 'BindingProvider',
    apiVersion: 'v1alpha2',
    providerPrettyName: 'BigCorp',
    version: 'v0.8.2',
    authenticationMethods: [{ method: 'OAuth2CodeGrant', oauth2CodeGrant: { authenticatedURL } }],
    ...change,
  };
}

const failing = (error: Error): ForeignHttp => ({
  request: () => Promise.reject(error),
  close: () => Promise.resolve(),
});
const answering = (...args: Parameters<typeof answer>): ForeignHttp => new StubHttp(answer(...args));

class Bench {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  readonly changed: string[] = [];
  readonly #stop = new AbortController();
  readonly documents: ProviderDocuments;

  constructor(http: () => ForeignHttp) {
    this.documents = new ProviderDocuments({
      api: ({ url }) => {
        this.asked.push(url);
        return createBackendApi({ http: http(), url });
      },
      clock: this.clock,
      changed: (key) => void this.changed.push(key),
      signal: this.#stop.signal,
    });
  }

  async probe(key: QueueKey = 'workspace1|c', url = URL): Promise<ProviderProbe> {
    this.documents.get(key, { url });
    await settle();
    return this.documents.get(key, { url });
  }
}

describe('the turn of a workspace', () => {
  it('comes although others wait with any number of backends that do not answer', async () => {
    const answers: (() => void)[] = [];
    const slow: ForeignHttp = {
      request: () =>
        new Promise((_, reject) => answers.push(() => reject(new TransportError('slow', 'timeout')))),
      close: () => Promise.resolve(),
    };
    const bench = new Bench(() => slow);
    const ask = (key: QueueKey, url: string) => bench.documents.get(key, { url });
    for (let workspace = 0; workspace < 10; workspace++) {
      for (let i = 0; i < 50; i++) ask(`hostile${workspace}|c${i}`, 'https://slow.example.com');
    }
    ask('alice|c', URL);
    ask('bob|c', URL);
    bench.documents.forget('bob|c');
    expect(bench.asked).toHaveLength(32);
    for (let i = 0; i < 4; i++) answers.shift()?.();
    await settle();
    expect(bench.asked).toHaveLength(36);
    expect(bench.asked.filter((url) => url === URL)).toHaveLength(1);
  });
});

describe('the probe of a backend', () => {
  it('knows one that answers', async () => {
    const bench = new Bench(() => answering(200, JSON_TYPE, document()));
    expect(bench.documents.get('workspace1|c', { url: URL })).toEqual({ kind: 'pending' });
    expect(await bench.probe()).toEqual({ kind: 'reachable', prettyName: 'BigCorp', version: 'v0.8.2' });
    expect(bench.changed).toEqual(['workspace1|c']);
  });

  it.each<[string, ForeignHttp, ProducedReason, RegExp]>([
    [
      'a web page',
      answering(200, 'text/html', '<h1>Hello</h1>'),
      'connection/BackendReachable/NotABackend',
      /text\/html.*Check the URL/,
    ],
    ['no page', answering(404, '', ''), 'connection/BackendReachable/NotABackend', /404.*Check the URL/],
    [
      'a gateway without backend',
      answering(502, 'text/html', ''),
      'connection/BackendReachable/Unreachable',
      /502.*Try again later/,
    ],
    [
      'an old backend',
      answering(200, JSON_TYPE, document({ version: '0.4.0' })),
      'connection/BackendReachable/UnsupportedBackend',
      /0\.4\.0.*Ask the provider to upgrade/,
    ],
    [
      'a backend that sends logins elsewhere',
      answering(200, JSON_TYPE, document({}, 'https://evil.example.test/')),
      'connection/BackendReachable/ForeignAuthorizeURL',
      /evil\.example\.test/,
    ],
    [
      'an address that may not be dialled',
      failing(new AddressDeniedError('10.0.0.1 is a private address; --allow-address')),
      'connection/BackendReachable/AddressDenied',
      /10\.0\.0\.1.*--allow-address/,
    ],
    [
      'a certificate that is not trusted',
      failing(new TransportError('self-signed certificate.', 'tls')),
      'connection/BackendReachable/TLSFailed',
      /self-signed.*spec\.backend\.caBundle/,
    ],
    [
      'nobody',
      failing(new TransportError('refused.', 'connect')),
      'connection/BackendReachable/Unreachable',
      /refused.*tried again; check spec\.backend\.url/,
    ],
  ])('tells %s, and what to do', async (_title, http, produced, says) => {
    const probe = await new Bench(() => http).probe();
    if (probe.kind !== 'failed') throw new Error(probe.kind);
    expectReason(produced, probe);
    expect(probe.message).toMatch(says);
  });

  it('tells a URL that cannot be one', async () => {
    const probe = await new Bench(() => answering(200, '', '')).probe('workspace1|c', 'https://a:99999');
    if (probe.kind !== 'failed') throw new Error(probe.kind);
    expectReason('connection/BackendReachable/InvalidURL', probe);
    expect(probe.message).toContain('https://a:99999');
  });

  it('asks again after a growing while, and at once for another URL', async () => {
    const bench = new Bench(() => failing(new TransportError('refused', 'connect')));
    await bench.probe();
    expect(bench.documents.askAgainInMs('workspace1|c')).toBe(5000);
    await bench.probe();
    expect(bench.asked).toHaveLength(1);
    await bench.clock.advance(5000);
    await bench.probe();
    expect(bench.asked).toHaveLength(2);
    expect(bench.documents.askAgainInMs('workspace1|c')).toBe(10_000);
    await bench.probe('workspace1|c', 'https://other.example.com');
    expect(bench.asked.at(-1)).toBe('https://other.example.com');
  });

  it('keeps few requests of one workspace open, and lets others by', async () => {
    const answers: (() => void)[] = [];
    const bench = new Bench(() => ({
      request: () =>
        new Promise((resolve) => answers.push(() => resolve(answer(200, JSON_TYPE, document())))),
      close: () => Promise.resolve(),
    }));
    for (let i = 0; i < 6; i += 1) bench.documents.get(`workspace1|c${i}`, { url: URL });
    bench.documents.get('workspace2|c', { url: URL });
    expect(answers).toHaveLength(5);
    answers[0]?.();
    await settle();
    expect(answers).toHaveLength(6);
    for (const each of answers) each();
    await settle();
    for (const each of answers) each();
    await settle();
    expect(bench.changed).toHaveLength(7);
  });
});
