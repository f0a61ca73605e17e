import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import type { ServerCredentials } from '../credentials.js';
import { createDialler, createOpenDialler, type Dialler } from '../dialler/dialler.js';
import { createSystemClock } from '../system-clock.js';
import { sendJson, startServer, type LoopbackServer } from '../testing/loopback-server.js';
import { makeCertificates, type TestCertificates } from '../testing/test-certificates.js';
import { connect } from './connect.js';
import type { ReloadableClient } from './reloadable-client.js';

const OBJECT = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } };

let certificates: TestCertificates;
let server: LoopbackServer;
const clients: ReloadableClient[] = [];

beforeAll(async () => {
  certificates = makeCertificates(['DNS:kube.test']);
  const { cert, key } = certificates.server;
  server = await startServer(
    (_, response) => sendJson(response, 200, { ...OBJECT, peer: peerName(response.socket) }),
    {
      cert,
      key,
      ca: certificates.ca,
      requestCert: true,
      rejectUnauthorized: true,
    },
  );
});

afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(() => server.close());

function peerName(socket: unknown): string {
  return (socket as TLSSocket).getPeerCertificate().subject.CN as string;
}

function client(
  credentials: Partial<ServerCredentials> = {},
  dialler: Dialler = createOpenDialler(),
): ReloadableClient {
  const made = connect(
    {
      server: `https://127.0.0.1:${server.port}`,
      ca: certificates.ca,
      tlsServerName: 'kube.test',
      auth: { kind: 'certificate', ...certificates.client },
      ...credentials,
    },
    { dialler, userAgent: 'test/1', requestTimeoutMs: 5000, clock: createSystemClock(), random: () => 0 },
  );
  clients.push(made);
  return made;
}

describe('TLS', () => {
  it.each([
    ['the open dialler', () => createOpenDialler()],
    [
      'a policy',
      () => createDialler({ allowHosts: [], allowCidrs: ['127.0.0.1'], denyCidrs: [], allowProxy: false }),
    ],
  ])(
    'uses private authority, server name and client certificate for requests and watches, with %s',
    async (_, make) => {
      const kube = client({}, make());
      await expect(kube.get(GVR.secrets, { name: 'a' })).resolves.toMatchObject({ peer: 'client' });
      const options = {
        resourceVersion: '1',
        serverTimeoutMs: 1000,
        silenceMs: 1000,
        signal: new AbortController().signal,
      };
      const watch = kube.watch(GVR.secrets, options)[Symbol.asyncIterator]();
      // The answer is no event, but it came over an accepted connection.
      await expect(watch.next()).rejects.toMatchObject({ kind: 'reset' });
    },
  );

  it.each<[string, () => Partial<ServerCredentials>]>([
    ['an authority that did not sign the server', () => ({ ca: certificates.otherCa })],
    ['another name than the certificate’s', () => ({ tlsServerName: 'other.test' })],
  ])('fails closed, and says "certificate", with %s', async (_, change) => {
    const kube = client(change());
    await expect(kube.get(GVR.secrets, { name: 'a' })).rejects.toMatchObject({
      code: 'KUBE_TRANSPORT',
      kind: 'tls',
      message: expect.stringContaining('certificate'),
    });
  });

  it('trusts only the system’s authorities where none is given', async () => {
    const kube = connect(
      { server: `https://127.0.0.1:${server.port}`, tlsServerName: 'kube.test', auth: { kind: 'none' } },
      {
        dialler: createOpenDialler(),
        userAgent: 'test/1',
        requestTimeoutMs: 5000,
        clock: createSystemClock(),
        random: () => 0,
      },
    );
    clients.push(kube);
    await expect(kube.get(GVR.secrets, { name: 'a' })).rejects.toMatchObject({ kind: 'tls' });
  });

  it('takes up a renewed client certificate on new connections', async () => {
    const kube = client({ auth: { kind: 'none' } });
    await expect(kube.get(GVR.secrets, { name: 'a' })).rejects.toMatchObject({ code: 'KUBE_TRANSPORT' });
    kube.setCredentials({
      server: `https://127.0.0.1:${server.port}`,
      ca: certificates.ca,
      tlsServerName: 'kube.test',
      auth: { kind: 'certificate', ...certificates.client },
    });
    await expect(kube.get(GVR.secrets, { name: 'a' })).resolves.toMatchObject({ peer: 'client' });
  });

  it('says so when a server on a TLS port speaks none', async () => {
    const plain = await startServer((_, response) => response.end());
    const kube = client({ server: `https://127.0.0.1:${plain.port}` });
    await expect(kube.get(GVR.secrets, { name: 'a' })).rejects.toMatchObject({ kind: 'tls' });
    await plain.close();
  });
});
