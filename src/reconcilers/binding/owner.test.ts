import { describe, expect, it } from '@jest/globals';

import { seemsMadeFor } from './owner.js';
import { BINDING_ANNOTATION, CLUSTER_LABEL } from '../../api/markers.js';
import type { LogicalCluster } from '../../kube/object.js';

describe('seemsMadeFor', () => {
  const made = (cluster: string, name: string) => ({
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIExport',
    metadata: {
      name: 'any',
      labels: { [CLUSTER_LABEL]: cluster },
      annotations: { [BINDING_ANNOTATION]: name },
    },
  });

  it('tells bindings of one name in two workspaces, and two bindings of one workspace, apart', () => {
    const mine = { cluster: 'c1' as LogicalCluster, name: 'widgets' };
    expect(seemsMadeFor(made('c1', 'widgets'), mine)).toBe(true);
    expect(seemsMadeFor(made('c2', 'widgets'), mine)).toBe(false);
    expect(seemsMadeFor(made('c1', 'gadgets'), mine)).toBe(false);
  });

  it('knows nothing of an object that says nothing', () => {
    const bare = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'any' } };
    expect(seemsMadeFor(bare, { cluster: 'c1' as LogicalCluster, name: 'widgets' })).toBe(false);
  });
});
