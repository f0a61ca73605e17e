import { describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { pacedConnector } from './provider-connector.js';
import type { RenewableClient } from './provider-link.js';
import { createServerPace } from './server-pace.js';
import { CONTRACT, FakeProvider } from './testing/fake-provider.js';

function credentials(server: string): ServerCredentials {
  return { server, auth: { kind: 'token', token: 't' } };
}

class Bench {
  readonly clock = new ManualClock();
  readonly provider = new FakeProvider();
  readonly connect = pacedConnector(this.provider.connect, createServerPace(this.clock, 10));
  answered = 0;

  ask(client: RenewableClient, times: number): void {
    for (let i = 0; i < times; i += 1) {
      client.get(GVR.namespaces, { name: CONTRACT }).then(
        () => (this.answered += 1),
        () => undefined,
      );
    }
  }
}

describe('pace', () => {
  it('is shared by all clients of one server, whatever path they use', async () => {
    const bench = new Bench();
    bench.ask(bench.connect(credentials('https://a:1/clusters/x')), 50);
    bench.ask(bench.connect(credentials('https://a:1/clusters/y')), 50);
    await bench.clock.advance(0);
    expect(bench.answered).toBe(20);
    await bench.clock.advance(1000);
    expect(bench.answered).toBe(30);
    await bench.clock.advance(7000);
    expect(bench.answered).toBe(100);
  });

  it('of one server costs another nothing', async () => {
    const bench = new Bench();
    bench.ask(bench.connect(credentials('https://a')), 50);
    bench.ask(bench.connect(credentials('https://b')), 20);
    await bench.clock.advance(0);
    expect(bench.answered).toBe(40);
    await bench.clock.advance(60_000);
  });

  it('follows a client to another server', async () => {
    const bench = new Bench();
    const client = bench.connect(credentials('https://a'));
    bench.ask(client, 20);
    client.setCredentials(credentials('https://b'));
    bench.ask(client, 20);
    await bench.clock.advance(0);
    expect(bench.answered).toBe(40);
  });

  it('holds no request of a client that is closed', async () => {
    const bench = new Bench();
    const client = bench.connect(credentials('https://a'));
    bench.ask(client, 50);
    await client.close();
    await bench.clock.advance(0);
    expect(bench.clock.pending).toBe(0);
  });
});
