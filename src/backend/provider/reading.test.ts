import { describe, expect, it } from '@jest/globals';
import { GVR } from '../../api/gvr.js';
import { TransportError } from '../../kube/errors.js';
import { apiError, FakeProvider } from '../testing/fake-provider.js';
import { recordedObject } from '../testing/recorded.js';
import { boundSchemaName, readBoundSchemas } from './bound-schemas.js';
import { readContractNamespace } from './contract.js';
import { listRemaining } from './remaining.js';
import { readRotatedKubeconfig } from './rotated-kubeconfig.js';

const COWBOYS = { group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] };

describe('readBoundSchemas', () => {
  it('gives one result for each resource, in order', async () => {
    const provider = new FakeProvider();
    const { spec } = recordedObject('boundschemas-v0.8.2');
    const resources = [
      { ...COWBOYS, resource: 'absent' },
      COWBOYS,
      ...['a', 'b', 'c', 'd'].map((resource) => ({ ...COWBOYS, resource })),
      { ...COWBOYS, resource: 'forged' },
      { ...COWBOYS, group: 'forged.dev' },
    ];
    provider.put(GVR.boundSchemas, 'cowboys.wildwest.dev', { spec });
    provider.put(GVR.boundSchemas, 'forged.wildwest.dev', { spec });
    provider.put(GVR.boundSchemas, 'cowboys.forged.dev', { spec });
    const reads = await readBoundSchemas(provider.contract, { resources });
    expect(reads.map((read) => ('object' in read ? read.name : read.problem))).toEqual([
      'Missing',
      'cowboys.wildwest.dev',
      'Missing',
      'Missing',
      'Missing',
      'Missing',
      'OtherResource',
      'OtherResource',
    ]);
  });

  it('takes no refusal for absence', async () => {
    const provider = new FakeProvider();
    provider.fault = () => apiError(404, 'NotFound', {});
    await expect(readBoundSchemas(provider.contract, { resources: [COWBOYS] })).rejects.toMatchObject({
      status: 404,
    });
  });

  it('names schemas of the core group', () => {
    expect(boundSchemaName({ group: '', resource: 'pods' })).toBe('pods.core');
  });
});

describe('readContractNamespace', () => {
  it('gives the UID', async () => {
    const provider = new FakeProvider();
    provider.put(GVR.namespaces, 'contract', { metadata: { uid: 'abc' } });
    expect(await readContractNamespace(provider.contract)).toEqual({ uid: 'abc' });
  });
});

describe('readRotatedKubeconfig', () => {
  const secret = (data: Record<string, string>, metadata = {}) => {
    const provider = new FakeProvider();
    provider.put(GVR.secrets, 'kubeconfig', { data, metadata });
    return readRotatedKubeconfig(provider.contract);
  };
  const encode = (text: string) => Buffer.from(text).toString('base64');

  it('gives the text and its hash', async () => {
    const first = await secret({ kubeconfig: encode('apiVersion: v1\n') });
    expect(first).toEqual({
      state: 'present',
      text: 'apiVersion: v1\n',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await secret({ kubeconfig: encode('apiVersion: v1') })).not.toMatchObject({
      hash: (first as { hash: string }).hash,
    });
  });

  it.each([
    ['another key', { other: 'eA==' }],
    ['no base64', { kubeconfig: '!' }],
    ['bytes that are no text', { kubeconfig: Buffer.from([0xff, 0xfe]).toString('base64') }],
    ['too much', { kubeconfig: encode('x'.repeat(70_000)) }],
  ])('does not take %s for a kubeconfig', async (_, data) => {
    expect(await secret(data)).toMatchObject({ state: 'invalid' });
  });

  it('is absent where there is no Secret, or one that goes away', async () => {
    expect(await readRotatedKubeconfig(new FakeProvider().contract)).toEqual({ state: 'absent' });
    expect(await secret({ kubeconfig: encode('x') }, { deletionTimestamp: 'now' })).toEqual({
      state: 'absent',
    });
  });
});

describe('listRemaining', () => {
  const left = { name: 'cowboys', resources: [COWBOYS] };

  it('names what is there', async () => {
    const provider = new FakeProvider();
    provider.put(GVR.exports, 'cowboys');
    provider.put(GVR.namespaces, 'contract');
    expect(await listRemaining(provider.contract, left)).toEqual([
      'APIServiceExport contract/cowboys',
      'Namespace contract',
    ]);
  });

  it('names what it cannot look at, too', async () => {
    const provider = new FakeProvider();
    provider.fault = (_, gvr) => {
      if (gvr === GVR.exports) return apiError(403, 'Forbidden');
      return gvr === GVR.clusterBindings ? new TransportError('reset', 'reset') : undefined;
    };
    expect(await listRemaining(provider.contract, left)).toEqual([
      'APIServiceExport contract/cowboys',
      'ClusterBinding contract/cluster',
    ]);
  });

  it('is bounded', async () => {
    const provider = new FakeProvider();
    provider.fault = () => apiError(403, 'Forbidden');
    const resources = Array.from({ length: 500 }, () => COWBOYS);
    expect(await listRemaining(provider.contract, { name: 'x', resources })).toHaveLength(100);
  });
});
