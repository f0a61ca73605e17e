import { describe, expect, it } from '@jest/globals';
import type { JsonValue } from '../../kube/json-value.js';
import { servedResources } from './served-resources.js';
import { FakeProvider } from './testing/fake-provider.js';

const DISCOVERY: Record<string, JsonValue> = {
  '/apis': {
    groups: [
      { name: 'wildwest.dev', preferredVersion: { version: 'v1' } },
      { name: 'apis.kcp.io', preferredVersion: { version: 'v1alpha2' } },
      { name: 'events.k8s.io', preferredVersion: { version: 'v1' } },
      { name: 'broken.dev' },
      'nonsense',
    ],
  },
  '/apis/wildwest.dev/v1': {
    resources: [
      { name: 'cowboys', kind: 'Cowboy', namespaced: true },
      { name: 'cowboys/status', kind: 'Cowboy', namespaced: true },
      { name: 'sheriffs', kind: 'Sheriff', namespaced: false },
      { name: 7 },
    ],
  },
};

function client(answers: Record<string, JsonValue>): Parameters<typeof servedResources>[0] {
  const fake = new FakeProvider().connect({ server: 'https://vw', auth: { kind: 'none' } });
  return {
    ...fake,
    raw: async (_method, path) => {
      const answer = answers[path];
      if (answer === undefined) throw new Error(`asked for ${path}`);
      return answer;
    },
  };
}

const { signal } = new AbortController();

describe('what a workspace is served', () => {
  it('is every API of the export, and none that it only claims', async () => {
    const targets = await servedResources(client(DISCOVERY), undefined, signal);
    expect(targets).toMatchObject([
      {
        gvr: { group: 'wildwest.dev', version: 'v1', resource: 'cowboys' },
        scope: 'Namespaced',
        hasStatus: true,
      },
      { gvr: { resource: 'sheriffs' }, kind: 'Sheriff', scope: 'Cluster', hasStatus: false },
    ]);
  });

  it('is narrowed to what was requested', async () => {
    const requested = [{ group: 'wildwest.dev', resource: 'sheriffs', versions: ['v1'] }];
    const targets = await servedResources(client(DISCOVERY), requested, signal);
    expect(targets.map(({ gvr }) => gvr.resource)).toEqual(['sheriffs']);
  });

  it.each([[null], ['text'], [{ groups: 5 }], [[]]])('is nothing where discovery says %j', async (answer) => {
    expect(await servedResources(client({ '/apis': answer }), undefined, signal)).toEqual([]);
  });
});
