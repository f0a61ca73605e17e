import { describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import { COMPONENT_LABEL } from '../../api/markers.js';
import { expectReason } from '../../api/testing/expect-reason.js';
import { ManualClock, settle } from '../../kube/testing/manual-clock.js';
import type { JsonObject } from '../../kube/json-value.js';
import { apiError, FakeProvider } from '../testing/fake-provider.js';
import { recordedObject } from '../testing/recorded.js';
import { runToEnd } from '../testing/run-to-end.js';
import { ensureExportRequest, type ExportOutcome } from './ensure-export.js';
import { removeExportRequest, type ExportPlan } from './export-request.js';
import { parseExport } from './provider-export.js';

const recordedExport = recordedObject('apiserviceexports-v0.8.2');
const spec = recordedExport['spec'] as JsonObject;
const [resource] = spec['resources'] as JsonObject[];

const PLAN: ExportPlan = {
  name: 'cowboys',
  create: {
    resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] }],
    permissionClaims: [{ group: '', resource: 'secrets', selector: { labelSelector: {} } }],
    namespaces: ['shared'],
    schemaUpdatePolicy: 'Always',
  },
};

async function run(provider: FakeProvider, plan = PLAN): Promise<ExportOutcome & { seconds: number }> {
  const clock = new ManualClock();
  const [outcome, took] = await runToEnd(clock, ensureExportRequest(provider.contract, plan, { clock }));
  return { ...outcome, seconds: took / 1000 };
}

function exporting(provider: FakeProvider, content = spec): void {
  provider.put(GVR.exports, 'cowboys', { spec: content });
}

describe('ensureExportRequest', () => {
  it('takes an export that is there, and writes nothing', async () => {
    const provider = new FakeProvider();
    exporting(provider);
    const outcome = await run(provider);
    expectReason('binding/ExportReady/ExportReady', outcome);
    expect(outcome).toMatchObject({ export: { name: 'cowboys' } });
    expect(provider.writes).toEqual([]);
  });

  it('makes the request, marked as ours, and waits for the export', async () => {
    const provider = new FakeProvider();
    provider.react = (verb) => {
      if (verb === 'create') exporting(provider);
    };
    expect(await run(provider)).toMatchObject({ reason: 'ExportReady' });
    expect(provider.objects.get('apiserviceexportrequests/cowboys')).toMatchObject({
      apiVersion: 'kube-bind.io/v1alpha2',
      kind: 'APIServiceExportRequest',
      metadata: { namespace: 'contract', labels: { [COMPONENT_LABEL]: 'export-request' } },
      spec: { ...PLAN.create, namespaces: [{ name: 'shared' }] },
    });
  });

  it('counts an export as success whatever the request says', async () => {
    const provider = new FakeProvider();
    provider.put(GVR.exportRequests, 'cowboys', { status: { phase: 'Failed' } });
    let reads = 0;
    provider.fault = (_, gvr) => {
      if (gvr === GVR.exports && ++reads === 3) exporting(provider);
      return undefined;
    };
    expect(await run(provider)).toMatchObject({ reason: 'ExportReady' });
  });

  it('gives up after its own deadline when the request stays pending without a word', async () => {
    const provider = new FakeProvider();
    provider.put(GVR.exportRequests, 'cowboys', { status: { phase: 'Pending' } });
    const outcome = await run(provider);
    expectReason('binding/ExportReady/RequestPending', outcome);
    expect(outcome).toMatchObject({ seconds: 60 });
    expect(provider.writes).toEqual([]);
  });

  it('makes one request only, even where its answer is lost', async () => {
    const provider = new FakeProvider();
    provider.react = () => undefined;
    expect((await run(provider)).reason).toBe('RequestPending');
    expect(provider.writes).toEqual(['create apiserviceexportrequests/cowboys']);
  });

  it('says what the provider said about a request that it refused', async () => {
    const provider = new FakeProvider();
    provider.put(GVR.exportRequests, 'cowboys', {
      status: {
        phase: 'Failed',
        conditions: [{ type: 'PermissionClaim', status: 'False', message: 'claim\non nodes' }],
      },
    });
    const outcome = await run(provider);
    expectReason('binding/ExportReady/RequestFailed', outcome);
    expect(outcome).toMatchObject({ message: expect.stringContaining('claim on nodes') });
  });

  it('tells apart what is missing when it may not create', async () => {
    const provider = new FakeProvider();
    const absent = await run(provider, { name: 'cowboys' });
    expectReason('binding/ExportReady/ExportNotFound', absent);
    expect(absent).toMatchObject({ seconds: 0 });
    provider.put(GVR.exportRequests, 'cowboys');
    expect(await run(provider, { name: 'cowboys' })).toMatchObject({ reason: 'RequestPending' });
    exporting(provider);
    expect(await run(provider, { name: 'cowboys' })).toMatchObject({ reason: 'ExportReady' });
  });

  it('refuses an export that lacks a wanted resource, and takes one that has more', async () => {
    const provider = new FakeProvider();
    exporting(provider, { ...spec, resources: [{ ...resource!, resource: 'sheriffs' }] });
    const outcome = await run(provider);
    expectReason('binding/ExportReady/ExportMismatch', outcome);
    expect(outcome).toMatchObject({ message: expect.stringContaining('cowboys.wildwest.dev') });
    exporting(provider, {
      ...spec,
      resources: [{ ...resource!, resource: 'sheriffs' }, resource!],
    });
    expect(await run(provider)).toMatchObject({ reason: 'ExportReady' });
  });

  it('does not take an export that is being deleted', async () => {
    const provider = new FakeProvider();
    exporting(provider);
    provider.put(GVR.exports, 'cowboys', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } });
    expect(await run(provider)).toMatchObject({ reason: 'RequestPending' });
  });

  it('does not send a request that no backend answers', async () => {
    const provider = new FakeProvider();
    const create = { ...PLAN.create!, resources: [{ group: 'a.b', resource: 'cs', versions: [] }] };
    expect(await run(provider, { name: 'cs', create })).toMatchObject({
      reason: 'RequestFailed',
      message: expect.stringContaining('cs.a.b'),
    });
    expect(provider.writes).toEqual([]);
  });

  it.each([
    [403, 'binding/ExportReady/ProviderForbidden'],
    [422, 'binding/ExportReady/RequestFailed'],
    [409, 'binding/ExportReady/RequestPending'],
  ] as const)('turns %d on create into %s', async (status, produced) => {
    const provider = new FakeProvider();
    provider.fault = (verb) => (verb === 'create' ? apiError(status, 'X') : undefined);
    expectReason(produced, await run(provider));
  });

  it.each([401, 500, 404])(
    'leaves %d to the caller, and takes no 404 without an object for absence',
    async (status) => {
      const provider = new FakeProvider();
      provider.fault = (verb) => (verb === 'get' ? apiError(status, 'NotFound', {}) : undefined);
      await expect(run(provider)).rejects.toMatchObject({ status });
      expect(provider.writes).toEqual([]);
    },
  );

  it('stops when it is told to', async () => {
    const provider = new FakeProvider();
    const stop = new AbortController();
    const clock = new ManualClock();
    const outcome = ensureExportRequest(provider.contract, PLAN, { clock, signal: stop.signal });
    await settle();
    stop.abort(new Error('stopped'));
    await expect(outcome).rejects.toThrow('stopped');
    expect(clock.pending).toBe(0);
  });
});

describe('removeExportRequest', () => {
  it('removes our own request, and is done when it is gone', async () => {
    const provider = new FakeProvider();
    await run(provider);
    expect(await removeExportRequest(provider.contract, 'cowboys')).toBe('removed');
    expect(await removeExportRequest(provider.contract, 'cowboys')).toBe('absent');
  });

  it('leaves the request of somebody else', async () => {
    const provider = new FakeProvider();
    provider.put(GVR.exportRequests, 'cowboys');
    expect(await removeExportRequest(provider.contract, 'cowboys')).toBe('foreign');
    expect(provider.writes).toEqual([]);
  });

  it('never deletes one that was made meanwhile', async () => {
    const provider = new FakeProvider();
    await run(provider);
    provider.fault = (verb) => (verb === 'delete' ? apiError(409, 'Conflict') : undefined);
    expect(await removeExportRequest(provider.contract, 'cowboys')).toBe('absent');
  });
});

describe('parseExport', () => {
  it('reads a recorded export', () => {
    expect(parseExport(recordedExport)).toEqual({
      name: 'cowboys',
      uid: recordedExport.metadata.uid,
      resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] }],
      permissionClaims: [
        { group: '', resource: 'secrets', selector: { labelSelector: { matchLabels: { app: 'cowboy' } } } },
      ],
      informerScope: 'Namespaced',
      isolation: 'Prefixed',
      schemaHash: recordedExport.metadata.annotations?.['kube-bind.io/source-spec-hash'],
      terminating: false,
    });
  });

  it.each([
    ['no resources', {}],
    ['resources that are no list', { resources: 'all' }],
    ['a resource without a name', { resources: [{ group: 'x' }] }],
    ['too many resources', { resources: Array.from({ length: 65 }, () => ({ resource: 'a' })) }],
    ['too many claims', { resources: [], permissionClaims: Array.from({ length: 33 }, () => ({})) }],
  ])('refuses %s', (_, broken) => {
    expect(() => parseExport({ ...recordedExport, spec: broken })).toThrow(/APIServiceExport cowboys/);
  });

  it('takes an isolation that it does not know for None', () => {
    expect(parseExport({ ...recordedExport, spec: { resources: [], isolation: 'Other' } }).isolation).toBe(
      'None',
    );
  });
});
