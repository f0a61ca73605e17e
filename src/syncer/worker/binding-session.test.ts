import { afterEach, describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import { COMPONENT_LABEL } from '../../api/markers.js';
import { expectReason } from '../../api/testing/expect-reason.js';
import { TransportError } from '../../kube/errors.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { silentLogger } from '../../telemetry/logger.js';
import type { AssignmentContent } from '../pool/pool-entry.js';
import { content, testOptions } from '../pool/testing/assignments.js';
import type { BindingReport } from '../protocol/report.js';
import { createMessageReader } from '../protocol/read-from-worker.js';
import { openBindingSession } from './binding-session.js';
import { openBindingObjects } from './binding-objects.js';
import { ProviderLink } from './provider-link.js';
import type { RelatedResourceSync } from './related/related-sync.js';
import type { RelatedTarget } from './related/related-syncs.js';
import type { ResourceSync, SyncPolicy, SyncStats, SyncTarget } from './resource-sync.js';
import type { Session } from './run-worker.js';
import { CONTRACT, cowboySchema, FakeProvider, kubeconfig, status } from './testing/fake-provider.js';

const read = createMessageReader();
const SERVER = 'https://provider:6443';

const COWBOYS_REQUEST = {
  resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1'] }],
  permissionClaims: [],
  namespaces: [],
};

class FakeSync implements ResourceSync {
  readonly target: SyncTarget;
  policy: SyncPolicy;
  started = false;
  draining = false;
  closed = false;
  now: SyncStats = { objects: 0, pending: 0, failing: 0, namespaces: [], drained: false };

  constructor(target: SyncTarget, policy: SyncPolicy) {
    this.target = target;
    this.policy = policy;
  }

  start(): void {
    this.started = true;
  }

  update(policy: SyncPolicy): void {
    this.policy = policy;
  }

  stats(): SyncStats {
    return this.now;
  }

  drain(): void {
    this.draining = true;
  }

  async close(): Promise<void> {
    this.closed = true;
  }
}

class FakeRelated extends FakeSync implements RelatedResourceSync {
  readonly related: RelatedTarget;

  constructor(related: RelatedTarget, policy: SyncPolicy) {
    const gvr = related.kind.gvr;
    const rest = {
      hasStatus: false,
      schema: '',
      isolation: related.isolation,
      informerScope: 'Cluster',
    } as const;
    super({ gvr, kind: related.kind.kind, scope: 'Namespaced', ...rest }, policy);
    this.related = related;
  }

  attached = 0;
  attach(): void {
    this.attached += 1;
  }
  copies(): readonly string[] {
    return [];
  }
  copiesInWorkspace(): readonly string[] {
    return [];
  }
}

class Bench {
  readonly clock = new ManualClock();
  readonly provider = new FakeProvider();
  readonly consumer = new FakeProvider();
  readonly reports: BindingReport[] = [];
  readonly syncs: FakeSync[] = [];
  readonly related: FakeRelated[] = [];
  /** What the syncs call when their figures have changed. */
  changed: () => void = () => undefined;
  #revision = 1;
  #content: AssignmentContent;
  readonly session: Session;

  constructor(
    change: Partial<AssignmentContent> = {},
    prepare: (provider: FakeProvider) => void = () => undefined,
  ) {
    prepare(this.provider);
    this.#content = content('a', {
      provider: {
        credentials: { server: SERVER, auth: { kind: 'token', token: 'one' }, namespace: CONTRACT },
        contractNamespace: CONTRACT,
      },
      request: {
        name: 'cowboys',
        create: { ...COWBOYS_REQUEST, schemaUpdatePolicy: 'Never' },
      },
      ...change,
    });
    const { clock } = this;
    // The watches of the fake say nothing while nothing happens.
    const options = { ...testOptions, watchSilenceMs: 3_600_000 };
    this.session = openBindingSession(
      {
        options,
        clock,
        random: () => 0.5,
        log: silentLogger(),
        version: 'v1',
        onPassFailed: () => undefined,
        linkProvider: (provider) =>
          new ProviderLink({ clock, connect: this.provider.connect, allowProxy: false }, provider),
        openBindingObjects: (assignment, link, output) =>
          openBindingObjects(
            {
              options,
              clock,
              random: () => 0.5,
              connectConsumer: this.consumer.connect,
              openRelatedSync: (target, _places, { policy }) => {
                const sync = new FakeRelated(target, policy);
                this.related.push(sync);
                return sync;
              },
              openResourceSync: (target, _places, { policy, output: told }) => {
                this.changed = () => told.changed();
                const sync = new FakeSync(target, policy);
                this.syncs.push(sync);
                return sync;
              },
            },
            assignment,
            link,
            output,
          ),
      },
      { ...this.#content, revision: this.#revision },
      {
        report: (report) => {
          const checked = read({ type: 'report', report: structuredClone(report) });
          expect(checked.ok ? '' : checked.path).toBe('');
          this.reports.push(report);
        },
        event: () => undefined,
      },
    );
  }

  assign(change: Partial<AssignmentContent>): void {
    this.#content = { ...this.#content, ...change };
    this.#revision += 1;
    this.session.update({ ...this.#content, revision: this.#revision });
  }

  get report(): BindingReport | undefined {
    return this.reports.at(-1);
  }

  get reasons(): Record<string, string | undefined> {
    const { Connected, ExportReady, SchemaInSync, Syncing } = this.report?.conditions ?? {};
    return {
      Connected: Connected?.reason,
      ExportReady: ExportReady?.reason,
      SchemaInSync: SchemaInSync?.reason,
      Syncing: Syncing?.reason,
    };
  }
}

const COWBOYS = {
  group: 'wildwest.dev',
  version: 'v1',
  resource: 'cowboys',
  kind: 'Cowboy',
  scope: 'Namespaced',
  hasStatus: true,
} as const;
const consumer = {
  credentials: { server: 'https://kcp/clusters/x', auth: { kind: 'token', token: 'vw' } },
  apis: [COWBOYS],
  schemas: 'first',
} as const;

let bench: Bench;
afterEach(async () => {
  await bench.session.close();
  expect(bench.clock.pending).toBe(0);
});

describe('prepare', () => {
  it('asks for the export, converts its schemas and says so', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    expect(bench.provider.writes).toEqual(['create apiserviceexportrequests cowboys']);
    expectReason('binding/Connected/Connected', bench.report?.conditions.Connected);
    expect(bench.reasons).toEqual({
      Connected: 'Connected',
      ExportReady: 'ExportReady',
      SchemaInSync: 'InSync',
      Syncing: 'Pending',
    });
    expect(bench.report).toMatchObject({ contractNamespaceUid: 'uid-contract', revision: 1, drained: false });
    expect(bench.report?.schemas).toMatchObject([
      { resource: 'cowboys', syncVersion: 'v1', scope: 'Namespaced' },
    ]);
  });

  it('asks the provider nothing but who it is while nothing changes', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    const [writes, calls, reports] = [
      bench.provider.writes.length,
      bench.provider.calls.length,
      bench.reports.length,
    ];
    await bench.clock.advance(300_000);
    expect(bench.provider.writes).toHaveLength(writes);
    expect(bench.reports).toHaveLength(reports);
    expect(bench.provider.calls.length - calls).toBeLessThan(3);
  });

  it('takes an export that is there already', async () => {
    bench = new Bench({}, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    expect(bench.provider.writes).toEqual([]);
    expect(bench.reasons['ExportReady']).toBe('ExportReady');
  });

  it('says that it waits, then that the provider does not answer, and goes on when it does', async () => {
    bench = new Bench({}, (provider) => (provider.answers = false));
    await bench.clock.advance(5000);
    expect(bench.reasons).toMatchObject({ Connected: 'Connected', ExportReady: 'Pending' });
    await bench.clock.advance(120_000);
    expect(bench.reasons['ExportReady']).toBe('RequestPending');
    bench.provider.export('cowboys');
    await bench.clock.advance(60_000);
    expect(bench.reasons['ExportReady']).toBe('ExportReady');
  });

  it('passes on changed schemas within a minute, and reads them only then', async () => {
    bench = new Bench({}, (provider) => provider.export('cowboys'));
    await bench.clock.advance(100_000);
    const first = bench.report?.schemas?.[0]?.contentHash;
    const readings = (): number =>
      bench.provider.calls.filter((call) => call.startsWith('get boundschemas')).length;
    expect(readings()).toBe(1);
    bench.provider.export('cowboys', 'h2', cowboySchema({ hat: { type: 'string' } }));
    await bench.clock.advance(60_000);
    expect(readings()).toBe(2);
    expect(bench.report?.schemas?.[0]?.contentHash).not.toBe(first);
  });

  it('looks once a second at a provider that changes its export all the time', async () => {
    bench = new Bench({}, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    const readings = (): number =>
      bench.provider.calls.filter((call) => call.startsWith('get boundschemas')).length;
    const before = readings();
    for (let i = 0; i < 100; i++) {
      bench.provider.export('cowboys', `hash-${String(i)}`);
      await bench.clock.advance(50);
    }
    expect(readings() - before).toBeGreaterThan(2);
    expect(readings() - before).toBeLessThanOrEqual(6);
  });

  it('names what kcp cannot serve', async () => {
    bench = new Bench({}, (provider) =>
      provider.export('cowboys', 'h1', { ...cowboySchema(), scope: 'Everywhere' }),
    );
    await bench.clock.advance(1000);
    expect(bench.reasons['SchemaInSync']).toBe('Unsupported');
    expect(bench.report?.conditions.SchemaInSync?.message).toContain('cowboys.wildwest.dev (spec.scope)');
    expect(bench.report?.schemas).toEqual([]);
  });
});

describe('identity of the contract namespace', () => {
  it('stops everything when it is another one than known', async () => {
    bench = new Bench({
      provider: {
        credentials: { server: SERVER, auth: { kind: 'token', token: 'one' } },
        contractNamespace: CONTRACT,
        contractNamespaceUid: 'uid-before',
      },
    });
    await bench.clock.advance(60_000);
    expect(bench.reasons).toMatchObject({ Connected: 'ProviderChanged' });
    expect(bench.provider.writes).toEqual([]);
    expect(bench.provider.calls.filter((call) => call.startsWith('get')).length).toBeLessThanOrEqual(3);
  });

  it('uses new credentials for nothing but looking until they have led to the same place', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.provider.fault = (verb, gvr, credentials) => {
      if (credentials.server === SERVER) return undefined;
      expect(`${verb} ${gvr?.resource ?? ''}`).toBe('get namespaces');
      return status(404, 'NotFound', CONTRACT);
    };
    const credentials = { server: 'https://elsewhere', auth: { kind: 'token', token: 'two' } } as const;
    bench.assign({ provider: { credentials, contractNamespace: CONTRACT } });
    await bench.clock.advance(60_000);
    expect(bench.reasons['Connected']).toBe('ProviderChanged');
    expect(bench.syncs.every((sync) => sync.closed)).toBe(true);
  });

  it('reads all objects anew when the workspace is bound to another schema', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.assign({ consumer: { ...consumer, schemas: 'second' } });
    await bench.clock.advance(1000);
    expect(bench.syncs.map(({ closed }) => closed)).toEqual([true, false]);
  });

  it('says when a backend has stopped to follow its own policy, and when it goes on', async () => {
    const request = {
      name: 'cowboys',
      create: { ...COWBOYS_REQUEST, schemaUpdatePolicy: 'Always' },
    } as const;
    bench = new Bench({ request });
    await bench.clock.advance(1000);
    expect(bench.reasons['SchemaInSync']).toBe('InSync');
    bench.provider.remove(GVR.exportRequests, { namespace: CONTRACT, name: 'cowboys' });
    await bench.clock.advance(10 * 60_000);
    const state = bench.report?.conditions.SchemaInSync;
    expectReason('binding/SchemaInSync/NotFollowed', state);
    expect(state?.status).toBe('Unknown');
    expect(state?.message).toContain('APIServiceExportRequest cowboys in namespace kube-bind-x again');
    bench.provider.put(GVR.exportRequests, { namespace: CONTRACT, name: 'cowboys' });
    await bench.clock.advance(20 * 60_000);
    expect(bench.reasons['SchemaInSync']).toBe('InSync');
  });

  it('goes on with what the workspace is served when the provider changes scope and kind', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => {
      const schema = cowboySchema();
      provider.export('cowboys', 'h2', {
        ...schema,
        scope: 'Cluster',
        names: { plural: 'cowboys', kind: 'Cow' },
      });
    });
    await bench.clock.advance(1000);
    expect(bench.syncs.map(({ target }) => target)).toMatchObject([{ kind: 'Cowboy', scope: 'Namespaced' }]);
  });

  it('changes to new credentials without starting the syncs again', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    const credentials = { server: SERVER, auth: { kind: 'token', token: 'two' } } as const;
    bench.assign({ provider: { credentials, contractNamespace: CONTRACT } });
    await bench.clock.advance(1000);
    expect(bench.provider.clients[0]).toEqual(credentials);
    expect(bench.syncs).toHaveLength(1);
    expect(bench.syncs[0]?.closed).toBe(false);
    expect(bench.reasons['Connected']).toBe('Connected');
  });
});

describe('a provider in trouble', () => {
  it('shows that it is down and recovers by itself', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    bench.provider.fault = () => new TransportError('connect ECONNREFUSED', 'connect');
    bench.provider.cut();
    await bench.clock.advance(60_000);
    expect(bench.reasons).toMatchObject({ Connected: 'ProviderUnreachable', ExportReady: 'ExportReady' });
    bench.provider.fault = () => undefined;
    await bench.clock.advance(5000);
    expect(bench.reasons['Connected']).toBe('Connected');
  });

  it('asks at most twice a minute after 401, and at once with new credentials', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    bench.provider.fault = (_verb, _gvr, { auth }) =>
      auth.kind === 'token' && auth.token === 'two' ? undefined : status(401, 'Unauthorized', '');
    bench.provider.cut();
    await bench.clock.advance(60_000);
    expect(bench.reasons['Connected']).toBe('Unauthorized');
    const before = bench.provider.calls.length;
    await bench.clock.advance(120_000);
    expect(bench.provider.calls.length - before).toBeLessThanOrEqual(4);
    const credentials = { server: SERVER, auth: { kind: 'token', token: 'two' } } as const;
    bench.assign({ provider: { credentials, contractNamespace: CONTRACT } });
    await bench.clock.advance(10);
    expect(bench.reasons['Connected']).toBe('Connected');
  });

  it('shows a 403 on the export and deletes nothing', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    bench.provider.fault = (_verb, gvr) =>
      gvr?.resource === 'apiserviceexports' ? status(403, 'Forbidden', 'cowboys') : undefined;
    bench.provider.cut();
    await bench.clock.advance(60_000);
    expect(bench.reasons).toMatchObject({ Connected: 'Connected', ExportReady: 'ProviderForbidden' });
    expect(bench.report?.schemas).toHaveLength(1);
    expect(bench.provider.writes).toHaveLength(1);
  });

  it('does not ask again for an export that the provider has removed', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    bench.provider.remove(GVR.exports, { namespace: CONTRACT, name: 'cowboys' });
    bench.provider.remove(GVR.exportRequests, { namespace: CONTRACT, name: 'cowboys' });
    await bench.clock.advance(120_000);
    expect(bench.reasons['ExportReady']).toBe('ExportNotFound');
    expect(bench.provider.writes).toHaveLength(1);
    expect(bench.report?.schemas).toHaveLength(1);
  });
});

describe('heartbeat', () => {
  const heartbeat = { secretNamespace: 'kube-bind', secretName: 'connection-1' };
  const beatOf = (): unknown => {
    const object = bench.provider.find(GVR.clusterBindings, { namespace: CONTRACT, name: 'cluster' });
    return object?.['status'];
  };

  it('is written when asked for, and again before the promised time is over', async () => {
    bench = new Bench({ heartbeat });
    const promised = testOptions.heartbeatIntervalMs;
    let [last, longest] = [bench.clock.now(), 0];
    let text = '';
    for (let passed = 0; passed < 1_200_000; passed += 10_000) {
      await bench.clock.advance(10_000);
      const now = JSON.stringify(beatOf());
      longest = Math.max(longest, bench.clock.now() - last);
      if (now !== text) [text, last] = [now, bench.clock.now()];
    }
    expect(longest).toBeLessThan(promised);
    expect(beatOf()).toMatchObject({ konnectorVersion: 'v1', consumerSecretRef: { name: 'connection-1' } });
    expect(bench.report?.heartbeat?.reason).toBe('Beating');
    expect(bench.report?.provider?.prettyName).toBe('BigCorp');
  });

  it('is not written by a binding that is not asked to', async () => {
    bench = new Bench();
    await bench.clock.advance(600_000);
    expect(beatOf()).toBeUndefined();
    expect(bench.report?.heartbeat).toBeUndefined();
  });

  it('of somebody else stops this binding, until it grows old', async () => {
    bench = new Bench({ heartbeat, stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    expect(bench.syncs).toHaveLength(1);
    bench.provider.put(
      GVR.clusterBindings,
      { namespace: CONTRACT, name: 'cluster' },
      {
        status: {
          lastHeartbeatTime: new Date(bench.clock.now() + 60_000).toISOString(),
          heartbeatInterval: '5m0s',
          consumerSecretRef: { namespace: 'kube-bind', name: 'kubeconfig-abc' },
        },
      },
    );
    await bench.clock.advance(100_000);
    expect(bench.reasons['Connected']).toBe('ForeignKonnector');
    expectReason('binding/Connected/ForeignKonnector', bench.report?.conditions.Connected);
    expect(bench.report?.heartbeat?.reason).toBe('ForeignKonnector');
    expect(bench.syncs[0]?.closed).toBe(true);
    await bench.clock.advance(900_000);
    expect(bench.reasons['Connected']).toBe('Connected');
    expect(bench.syncs).toHaveLength(2);
  });
});

describe('rotated kubeconfig', () => {
  const store = (text: string): void => {
    const data = { kubeconfig: Buffer.from(text).toString('base64') };
    bench.provider.put(GVR.secrets, { namespace: CONTRACT, name: 'kubeconfig' }, { data });
  };

  it('replaces ours in place and is reported until the assignment holds it', async () => {
    bench = new Bench();
    store(kubeconfig(SERVER, 'one'));
    await bench.clock.advance(60_000);
    expect(bench.report?.rotatedCredentials).toBeUndefined();
    store(kubeconfig(SERVER, 'two'));
    await bench.clock.advance(30_000);
    const rotated = { server: SERVER, auth: { kind: 'token', token: 'two' }, namespace: CONTRACT } as const;
    expect(bench.report?.rotatedCredentials).toEqual(rotated);
    expect(bench.provider.clients[0]).toEqual(rotated);
    bench.assign({ paused: true });
    await bench.clock.advance(1000);
    expect(bench.provider.clients[0]).toEqual(rotated);
    bench.assign({ provider: { credentials: rotated, contractNamespace: CONTRACT } });
    await bench.clock.advance(1000);
    expect(bench.report?.rotatedCredentials).toBeUndefined();
  });

  it('was there before this worker: the same address counts, another one does not', async () => {
    bench = new Bench();
    store(kubeconfig('https://internal', 'two'));
    await bench.clock.advance(60_000);
    expect(bench.report?.rotatedCredentials).toBeUndefined();
    store(kubeconfig('https://internal', 'three'));
    await bench.clock.advance(30_000);
    expect(bench.report?.rotatedCredentials).toMatchObject({ server: 'https://internal' });
  });

  it.each([
    ['for another namespace', kubeconfig(SERVER, 'two', 'kube-system')],
    ['that runs a program', kubeconfig(SERVER, 'two').replace('token: "two"', 'exec: {command: sh}')],
    ['that is none', 'garbage'],
  ])('%s changes nothing', async (_name, text) => {
    bench = new Bench();
    await bench.clock.advance(1000);
    store(text);
    await bench.clock.advance(60_000);
    expect(bench.provider.clients).toHaveLength(1);
    expect(bench.reasons['Connected']).toBe('Connected');
  });

  it('that the server does not accept is tried once', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    bench.provider.fault = (_verb, _gvr, { auth }) =>
      auth.kind === 'token' && auth.token === 'two' ? status(401, 'Unauthorized', '') : undefined;
    store(kubeconfig(SERVER, 'two'));
    await bench.clock.advance(120_000);
    expect(bench.provider.clients).toHaveLength(2);
    expect(bench.reasons['Connected']).toBe('Connected');
  });
});

describe('sync', () => {
  it('syncs each API, tells the provider, and reports figures', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    const [sync] = bench.syncs;
    expect(sync).toMatchObject({ started: true, target: { hasStatus: true, isolation: 'Prefixed' } });
    expect(bench.reasons['Syncing']).toBe('Syncing');
    if (sync) {
      sync.now = {
        ...sync.now,
        objects: 3,
        failing: 1,
        namespaces: ['b', 'a'],
        lastSyncAt: bench.clock.now(),
      };
    }
    await bench.clock.advance(1000);
    expect(bench.report).toMatchObject({ sync: { objects: 3, failing: 1 }, namespaces: ['a', 'b'] });
    expect(bench.reasons['Syncing']).toBe('ObjectsFailing');
    const bound = bench.provider.find(GVR.boundSchemas, {
      namespace: CONTRACT,
      name: 'cowboys.wildwest.dev',
    });
    expect(bound?.['status']).toMatchObject({ acceptedNames: { kind: 'Cowboy' }, storedVersions: ['v1'] });
  });

  it('hands a changed policy to what runs', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.assign({ paused: true, conflictPolicy: 'Adopt' });
    await bench.clock.advance(1000);
    expect(bench.syncs).toHaveLength(1);
    expect(bench.syncs[0]?.policy).toMatchObject({ paused: true, conflictPolicy: 'Adopt', force: false });
    expect(bench.reasons['Syncing']).toBe('Paused');
  });

  it('goes on with an API whose export is gone', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.provider.remove(GVR.exports, { namespace: CONTRACT, name: 'cowboys' });
    await bench.clock.advance(60_000);
    expect(bench.reasons['ExportReady']).toBe('ExportNotFound');
    expect(bench.syncs[0]?.closed).toBe(false);
  });

  it('does not ask for an export that should be there and is not', async () => {
    bench = new Bench({ stage: 'sync', consumer });
    await bench.clock.advance(120_000);
    expect(bench.reasons['ExportReady']).toBe('ExportNotFound');
    expect(bench.provider.writes).toEqual([]);
  });

  it('starts anew when a release is called off', async () => {
    bench = new Bench({ stage: 'drain', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.assign({ stage: 'sync' });
    await bench.clock.advance(1000);
    expect(bench.syncs.map(({ draining, closed }) => ({ draining, closed }))).toEqual([
      { draining: true, closed: true },
      { draining: false, closed: false },
    ]);
  });

  it('never says that a newer assignment is drained before its own pass', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.provider.fault = () => new TransportError('down', 'connect');
    bench.assign({ stage: 'drain' });
    await bench.clock.advance(10_000);
    expect(bench.report).toMatchObject({ revision: 2, drained: false });
  });
});

describe('drain', () => {
  it('is done when every API is', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.assign({ stage: 'drain' });
    await bench.clock.advance(1000);
    const [sync] = bench.syncs;
    expect(sync?.draining).toBe(true);
    expect(bench.report).toMatchObject({ revision: 2, drained: false });
    expect(bench.reasons['Syncing']).toBe('Draining');
    if (sync) sync.now = { ...sync.now, drained: true };
    await bench.clock.advance(1000);
    expect(bench.report).toMatchObject({ revision: 2, drained: true });
    expect(bench.reasons['Syncing']).toBe('Released');
  });

  it('is done at once where nothing was ever synced', async () => {
    bench = new Bench({ stage: 'drain' }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    expect(bench.report?.drained).toBe(true);
  });

  it('is not done while nobody can tell what there is to let go', async () => {
    bench = new Bench({ stage: 'drain', consumer });
    await bench.clock.advance(10_000);
    expect(bench.report?.drained).toBe(false);
    expect(bench.reasons['Syncing']).toBe('ConsumerUnreachable');
  });

  it('is not done while the workspace is served nothing', async () => {
    bench = new Bench({ stage: 'drain', consumer });
    bench.consumer.discovery = { '/apis': { groups: [] } };
    await bench.clock.advance(10_000);
    expect(bench.report?.drained).toBe(false);
    expect(bench.reasons['Syncing']).toBe('ConsumerUnreachable');
  });

  it('asks the workspace what there is to let go where the export is gone', async () => {
    bench = new Bench({ stage: 'drain', consumer });
    bench.consumer.discovery = {
      '/apis': { groups: [{ name: 'wildwest.dev', preferredVersion: { version: 'v1' } }] },
      '/apis/wildwest.dev/v1': { resources: [{ name: 'cowboys', kind: 'Cowboy', namespaced: true }] },
    };
    await bench.clock.advance(10_000);
    expect(bench.syncs).toMatchObject([{ draining: true, target: { kind: 'Cowboy' } }]);
  });

  it('waits for a provider that is down, and does without it by force', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.provider.fault = () => new TransportError('down', 'connect');
    bench.assign({ stage: 'drain' });
    await bench.clock.advance(60_000);
    expect(bench.syncs[0]?.policy.force).toBe(false);
    expect(bench.report?.drained).toBe(false);
    bench.assign({ force: true });
    await bench.clock.advance(1000);
    expect(bench.syncs[0]).toMatchObject({ draining: true, policy: { force: true } });
  });

  it.each(['ProviderForbidden', 'ProviderUnreachable'] as const)(
    'does without a provider that answers all but what is asked about objects (%s), by force',
    async (reason) => {
      bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
      await bench.clock.advance(1000);
      const [sync] = bench.syncs;
      if (sync === undefined) throw new Error('no sync was opened');
      const problem = { status: 'False', reason, message: 'The provider does not serve the API.' } as const;
      sync.now = { ...sync.now, problem };
      bench.assign({ stage: 'drain' });
      await bench.clock.advance(60_000);
      expect(sync.policy.force).toBe(false);
      bench.assign({ force: true });
      await bench.clock.advance(1000);
      expect(sync).toMatchObject({ draining: true, policy: { force: true } });
    },
  );
});

describe('related resources', () => {
  const claims = [
    { group: '', resource: 'secrets', selector: { labelSelector: { matchLabels: { share: 'yes' } } } },
    { group: '', resource: 'pods', selector: { labelSelector: { matchLabels: { share: 'yes' } } } },
  ];
  const exported = (provider: FakeProvider): void => {
    provider.claims = claims;
    provider.export('cowboys');
  };
  const agreed = [{ group: '', resource: 'secrets' }];

  it('are synced as far as both sides have agreed, and anew when that changes', async () => {
    bench = new Bench({ stage: 'sync', consumer }, exported);
    await bench.clock.advance(1000);
    bench.assign({ claims: agreed });
    await bench.clock.advance(1000);
    expect(bench.related.map(({ related, closed }) => [related.kind.kind, related.accepted, closed])).toEqual(
      [
        ['Secret', false, true],
        ['Secret', true, false],
      ],
    );
  });

  it('are let go after all other objects, and only then the binding is', async () => {
    bench = new Bench({ stage: 'sync', consumer, claims: agreed }, exported);
    await bench.clock.advance(1000);
    bench.assign({ stage: 'drain' });
    await bench.clock.advance(1000);
    const [sync] = bench.syncs;
    const [related] = bench.related;
    expect([sync?.draining, related?.draining]).toEqual([true, false]);
    if (sync) sync.now = { ...sync.now, drained: true };
    bench.changed();
    expect(related?.draining).toBe(true);
    await bench.clock.advance(1000);
    expect(bench.report?.drained).toBe(false);
    if (related) related.now = { ...related.now, drained: true };
    await bench.clock.advance(5000);
    expect(bench.report?.drained).toBe(true);
  });
});

describe('leave', () => {
  const namespace = (name: string, mine = true): void => {
    const labels = mine ? { [COMPONENT_LABEL]: 'service-namespace' } : {};
    bench.provider.put(
      GVR.serviceNamespaces,
      { namespace: CONTRACT, name },
      { metadata: { labels }, spec: {}, status: { namespace: `${CONTRACT}-${name}` } },
    );
  };

  it('removes what is ours and empty, and names what stays', async () => {
    bench = new Bench({}, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    for (const name of ['empty', 'used', 'full']) namespace(name);
    namespace('theirs', false);
    const cowboys = { group: 'wildwest.dev', version: 'v1', resource: 'cowboys' };
    bench.provider.put(cowboys, { namespace: `${CONTRACT}-full`, name: 'orphan' });
    bench.assign({ stage: 'leave', namespacesInUse: ['used'] });
    await bench.clock.advance(1000);
    expect(bench.provider.writes.filter((call) => call.startsWith('delete'))).toEqual([
      'delete apiservicenamespaces empty',
    ]);
    expect(bench.report).toMatchObject({ left: true, revision: 2 });
    expect(bench.report?.remaining).toEqual([
      `APIServiceExport ${CONTRACT}/cowboys`,
      `BoundSchema ${CONTRACT}/cowboys.wildwest.dev`,
      `ClusterBinding ${CONTRACT}/cluster`,
      `Namespace ${CONTRACT}`,
      `APIServiceNamespace ${CONTRACT}/full (objects are left in it)`,
    ]);
    expect(bench.reasons['Syncing']).toBe('Released');
  });

  it('gives up no namespace while it is not known who uses which', async () => {
    bench = new Bench({}, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    namespace('empty');
    bench.assign({ stage: 'leave', namespacesInUse: 'unknown' });
    await bench.clock.advance(1000);
    expect(bench.provider.writes.filter((call) => call.startsWith('delete'))).toEqual([]);
    expect(bench.report).toMatchObject({ left: true });
    expect(bench.report?.remaining).toContain(
      `APIServiceNamespace ${CONTRACT}/empty (another binding may have objects in it; it goes with the last one)`,
    );
  });

  it('keeps a namespace in which a related copy was left behind by the user’s wish', async () => {
    bench = new Bench({}, (provider) => {
      provider.claims = [{ group: '', resource: 'secrets', selector: {} }];
      provider.export('cowboys');
    });
    await bench.clock.advance(1000);
    for (const name of ['left', 'own']) namespace(name);
    const orphaned = { metadata: { annotations: { 'kcp.kube-bind.io/orphaned': 'true' } } };
    bench.provider.put(GVR.secrets, { namespace: `${CONTRACT}-left`, name: 'a' }, orphaned);
    bench.provider.put(GVR.secrets, { namespace: `${CONTRACT}-own`, name: 'a' });
    bench.assign({ stage: 'leave' });
    await bench.clock.advance(1000);
    expect(bench.provider.writes.filter((call) => call.startsWith('delete'))).toEqual([
      'delete apiservicenamespaces own',
    ]);
  });

  it('keeps a namespace that it may not look into', async () => {
    bench = new Bench({ stage: 'leave' }, (provider) => {
      provider.export('cowboys');
      provider.fault = (verb, gvr) =>
        verb === 'list' && gvr?.resource === 'cowboys' ? status(403, 'Forbidden', '') : undefined;
    });
    namespace('a');
    await bench.clock.advance(1000);
    expect(bench.report?.left).toBe(true);
    expect(bench.provider.writes.filter((call) => call.startsWith('delete'))).toEqual([]);
  });

  it('removes the request that it made', async () => {
    bench = new Bench();
    await bench.clock.advance(1000);
    bench.assign({ stage: 'leave' });
    await bench.clock.advance(1000);
    expect(bench.provider.writes).toContain('delete apiserviceexportrequests cowboys');
  });

  it('starts over after a crash in the middle', async () => {
    bench = new Bench({ stage: 'leave' }, (provider) => {
      provider.export('cowboys');
    });
    for (const name of ['a', 'b', 'c']) namespace(name);
    let deletes = 0;
    bench.provider.fault = (verb) =>
      verb === 'delete' && ++deletes === 2 ? new TransportError('reset', 'reset') : undefined;
    await bench.clock.advance(60_000);
    expect(bench.report?.left).toBe(true);
    expect(
      [...bench.provider.objects.keys()].filter((key) => key.startsWith('apiservicenamespaces')),
    ).toEqual([]);
  });

  it('waits for a provider that is down, and gives up by force, saying what was left behind', async () => {
    bench = new Bench({ stage: 'leave' }, (provider) => {
      provider.fault = () => new TransportError('down', 'connect');
    });
    await bench.clock.advance(60_000);
    expect(bench.report?.left).toBe(false);
    expect(bench.reasons['Connected']).toBe('ProviderUnreachable');
    bench.assign({ force: true });
    await bench.clock.advance(1000);
    expect(bench.report?.left).toBe(true);
    expect(bench.report?.remaining[0]).toContain(CONTRACT);
  });
});

describe('a release by force', () => {
  it('names the copies that it left, whoever let go of them and has ended since', async () => {
    bench = new Bench({ stage: 'sync', consumer }, (provider) => provider.export('cowboys'));
    await bench.clock.advance(1000);
    bench.provider.fault = () => new TransportError('down', 'connect');
    bench.assign({ stage: 'drain', force: true });
    await bench.clock.advance(1000);
    const [sync] = bench.syncs;
    if (sync === undefined) throw new Error('no sync was opened');
    sync.now = { ...sync.now, drained: true, leftBehind: ['cowboys.wildwest.dev ns/billy'] };
    await bench.clock.advance(2000);
    bench.assign({ stage: 'leave', force: true });
    await bench.clock.advance(1000);
    expect(bench.report).toMatchObject({
      left: true,
      remaining: [expect.stringContaining(CONTRACT), 'cowboys.wildwest.dev ns/billy'],
    });
  });
});

describe('a pass that hangs', () => {
  it('is cut short by a newer assignment, and says nothing', async () => {
    bench = new Bench({}, (provider) => (provider.hangs = true));
    await bench.clock.advance(1000);
    bench.provider.hangs = false;
    bench.assign({ paused: true });
    await bench.clock.advance(1000);
    expect(bench.reports.map(({ revision }) => revision)).not.toContain(1);
    expect(bench.reasons['Connected']).toBe('Connected');
  });

  it('ends when the session is closed', async () => {
    bench = new Bench({}, (provider) => (provider.hangs = true));
    await bench.clock.advance(1000);
    await bench.session.close();
    await bench.session.close();
    const calls = bench.provider.calls.length;
    await bench.clock.advance(600_000);
    expect(bench.provider.calls).toHaveLength(calls);
  });
});
