import { describe, expect, it } from '@jest/globals';
import type { KubeClient } from '../kube/client.js';
import { ApiError } from '../kube/errors.js';
import type { KubeObject, LogicalCluster } from '../kube/object.js';
import { ModelServer, refusal } from '../kube/testing/model-server.js';
import { createWorkspaceClient } from './workspace-client.js';

const THINGS = { group: 'test', version: 'v1', resource: 'things' };
const W1 = 'w1' as LogicalCluster;
const target = { name: 'a' };

function rig(answers: Partial<KubeClient>) {
  const client = { ...new ModelServer().client(), ...answers };
  return createWorkspaceClient(W1, (use) => use(client));
}

function thing(cluster: string): KubeObject {
  const metadata = {
    name: 'a',
    uid: 'u1',
    resourceVersion: 'rv-2',
    annotations: { 'kcp.io/cluster': cluster },
  };
  return { apiVersion: 'test/v1', kind: 'Thing', metadata };
}

describe('createWorkspaceClient', () => {
  it('puts the guard into patches and PUTs status to its subresource', async () => {
    const sent: unknown[] = [];
    const workspace = rig({
      patch: async (...args) => {
        sent.push(args.slice(1));
        return thing('w1');
      },
      replace: async (...args) => {
        sent.push(args[2]);
        return thing('w1');
      },
    });
    const guard = { uid: 'u1', resourceVersion: 'rv-2' };
    await workspace.mergePatch(THINGS, target, guard, { spec: null }, { subresource: 'status' });
    await workspace.jsonPatch(THINGS, target, { uid: 'u1' }, []);
    await workspace.replaceStatus(THINGS, thing('w1'), { timeoutMs: 5 });
    expect(sent).toEqual([
      [target, 'merge', { spec: null, metadata: guard }, { subresource: 'status' }],
      [target, 'json', [{ op: 'test', path: '/metadata/uid', value: 'u1' }], undefined],
      { timeoutMs: 5, subresource: 'status' },
    ]);
  });

  it('takes no object of another workspace', async () => {
    const foreign = async () => thing('w2');
    const list = async () => ({ items: [thing('w1'), thing('w2')], resourceVersion: 'rv' });
    const workspace = rig({
      get: foreign,
      create: foreign,
      patch: foreign,
      replace: foreign,
      delete: foreign,
      list,
    });
    const attempts = [
      workspace.get(THINGS, target),
      workspace.list(THINGS),
      workspace.create(THINGS, thing('w1')),
      workspace.mergePatch(THINGS, target, { uid: 'u1' }, {}),
      workspace.replaceStatus(THINGS, thing('w1')),
      workspace.delete(THINGS, target),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'KUBE_PROTOCOL' });
  });

  it('sends no object of another workspace', async () => {
    const workspace = rig({});
    await expect(workspace.create(THINGS, thing('w2'))).rejects.toThrow(TypeError);
    await expect(workspace.replaceStatus(THINGS, thing('w2'))).rejects.toThrow(TypeError);
  });

  it.each([
    ['another object', { uid: 'u0' }, 409],
    ['another state', { uid: 'u1', resourceVersion: 'rv-1' }, 409],
    ['an invalid result', { uid: 'u1', resourceVersion: 'rv-2' }, 422],
    ['an invalid result, guarded by uid only', { uid: 'u1' }, 422],
  ])('tells a failed test from an invalid result: %s', async (_, guard, status) => {
    const workspace = rig({ patch: async () => Promise.reject(refusal(422)), get: async () => thing('w1') });
    const attempt = workspace.jsonPatch(THINGS, target, guard, [{ op: 'remove', path: '/spec' }]);
    await expect(attempt).rejects.toMatchObject({ status });
    await expect(attempt).rejects.toBeInstanceOf(ApiError);
  });
});
