import { describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { FakeProvider } from '../testing/fake-provider.js';
import { recordedObject } from '../testing/recorded.js';
import {
  reportBoundSchemaStatus,
  reportExportStatus,
  type ExportReport,
  type ServedApi,
} from './report-status.js';

const NAMES = { plural: 'cowboys', kind: 'Cowboy', singular: 'cowboy', listKind: 'CowboyList' };
const SERVED: ServedApi = { names: NAMES, storedVersions: ['v1alpha1'], served: true };
const IN_SYNC: ExportReport = {
  bound: true,
  schemaInSync: { status: 'True', reason: 'InSync', message: '' },
};

function setUp(): { provider: FakeProvider; clock: ManualClock } {
  const provider = new FakeProvider();
  const { spec } = recordedObject('boundschemas-v0.8.2');
  provider.put(GVR.boundSchemas, 'cowboys.wildwest.dev', { spec });
  provider.put(GVR.exports, 'cowboys', {
    status: { conditions: [{ type: 'ProviderInSync', status: 'True', lastTransitionTime: 'then' }] },
  });
  return { provider, clock: new ManualClock(Date.parse('2026-11-30T12:48:33Z')) };
}

describe('reportBoundSchemaStatus', () => {
  it('gives what a real provider stored of it', async () => {
    const { provider, clock } = setUp();
    await reportBoundSchemaStatus(provider.contract, 'cowboys.wildwest.dev', SERVED, { clock });
    expect(provider.objects.get('boundschemas/cowboys.wildwest.dev')?.['status']).toEqual(
      recordedObject('boundschemas-v0.8.2')['status'],
    );
  });

  it('writes once', async () => {
    const { provider, clock } = setUp();
    const report = () =>
      reportBoundSchemaStatus(provider.contract, 'cowboys.wildwest.dev', SERVED, { clock });
    expect(await report()).toBe('written');
    await clock.advance(100_000);
    expect(await report()).toBe('unchanged');
    expect(provider.writes).toHaveLength(1);
  });

  it.each([
    ['a name conflict', true, ['False', 'False', 'False']],
    ['another problem', false, ['False', 'False', 'True']],
  ])('shows %s with its severity', async (_, names, statuses) => {
    const { provider, clock } = setUp();
    const problem = { reason: 'NameConflict', message: 'taken', names };
    const api = { ...SERVED, served: false, problem };
    await reportBoundSchemaStatus(provider.contract, 'cowboys.wildwest.dev', api, { clock });
    const status = provider.objects.get('boundschemas/cowboys.wildwest.dev')?.['status'];
    expect(status).toMatchObject({
      conditions: ['Ready', 'Established', 'NamesAccepted'].map((type, index) => ({
        type,
        status: statuses[index],
      })),
    });
    expect(status).toMatchObject({ conditions: [{ severity: 'Error', reason: 'NameConflict' }, {}, {}] });
  });

  it('is no error when the schema is gone', async () => {
    const { provider, clock } = setUp();
    expect(await reportBoundSchemaStatus(provider.contract, 'x', SERVED, { clock })).toBe('absent');
  });
});

describe('reportExportStatus', () => {
  const conditions = (provider: FakeProvider) =>
    (provider.objects.get('apiserviceexports/cowboys')?.['status'] as { conditions: unknown[] }).conditions;

  it.each<[string, ExportReport, unknown[]]>([
    [
      'bound',
      IN_SYNC,
      [
        { type: 'Connected', status: 'True' },
        { type: 'ConsumerInSync', status: 'True' },
      ],
    ],
    [
      'not in sync',
      { bound: true, schemaInSync: { status: 'False', reason: 'TooLarge', message: 'm' }, problem: 'p' },
      [
        {
          type: 'Connected',
          status: 'False',
          severity: 'Warning',
          reason: 'BoundSchemasNotValid',
          message: 'p',
        },
        { type: 'ConsumerInSync', status: 'False', severity: 'Info', reason: 'TooLarge', message: 'm' },
      ],
    ],
    [
      'left',
      { bound: false },
      [
        { type: 'Connected', status: 'False', severity: 'Info', reason: 'APIServiceBindingNotFound' },
        { type: 'ConsumerInSync', status: 'Unknown', reason: 'NA' },
      ],
    ],
  ])('when %s, the provider learns it and keeps its own conditions', async (_, report, expected) => {
    const { provider, clock } = setUp();
    expect(await reportExportStatus(provider.contract, 'cowboys', report, { clock })).toBe('written');
    expect(conditions(provider)).toMatchObject([
      ...expected,
      { type: 'ProviderInSync', status: 'True', lastTransitionTime: 'then' },
    ]);
    await clock.advance(100_000);
    expect(await reportExportStatus(provider.contract, 'cowboys', report, { clock })).toBe('unchanged');
  });
});
