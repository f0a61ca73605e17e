import { describe, expect, it } from '@jest/globals';
import type { SyncPolicy } from '../resource-sync.js';
import { RelatedSyncs, relatedTargets } from './related-syncs.js';
import type { RelatedTarget } from './related-syncs.js';

const POLICY: SyncPolicy = { conflictPolicy: 'Fail', deletionPolicy: 'Delete', paused: false, force: false };
const SELECTOR = { labelSelector: { matchLabels: { share: 'yes' } } };
const claim = (resource: string, selector: object = SELECTOR, group = '') => ({
  group,
  resource,
  selector: selector as Record<string, never>,
});
const agreed = (resource: string, group = '') => ({ group, resource });

describe('what there is to do about related resources', () => {
  const targets = (
    claims: readonly ReturnType<typeof claim>[],
    accepted: readonly ReturnType<typeof agreed>[],
  ) =>
    relatedTargets({ permissionClaims: claims, isolation: 'Prefixed' }, accepted).map(
      ({ kind, accepted: yes }) => `${kind.kind}: ${yes ? 'yes' : 'no'}`,
    );

  it('is what is claimed and agreed to, and nothing more', () => {
    expect(
      targets([claim('secrets'), claim('configmaps')], [agreed('secrets'), agreed('serviceaccounts')]),
    ).toEqual(['Secret: yes', 'ConfigMap: no', 'ServiceAccount: no']);
  });

  it('is nothing for resources that nobody may claim', () => {
    expect(targets([claim('pods'), claim('secrets', SELECTOR, 'example.org')], [agreed('pods')])).toEqual([]);
  });

  it('is nothing for a claim that selects nothing', () => {
    expect(
      targets([claim('secrets', {}), claim('configmaps', { labelSelector: {} })], [agreed('secrets')]),
    ).toEqual(['Secret: no', 'ConfigMap: no']);
  });

  it('is what was agreed to where the provider cannot be asked', () => {
    expect(relatedTargets(undefined, [agreed('secrets')])).toMatchObject([{ accepted: true, selectors: [] }]);
  });
});

class Recorded {
  readonly log: string[] = [];
  readonly syncs = new RelatedSyncs((target, _policy, known) => {
    const name = `${target.kind.kind}${target.accepted ? '' : ' without consent'}`;
    this.log.push(`open ${name}${known.length > 0 ? `, knowing ${known.join()}` : ''}`);
    return {
      start: () => this.log.push(`start ${name}`),
      update: () => undefined,
      attach: () => undefined,
      drain: () => this.log.push(`drain ${name}`),
      copies: () => [],
      copiesInWorkspace: () => ['ns/a'],
      stats: () => ({ objects: 0, pending: 0, failing: 0, namespaces: [], drained: false }),
      close: async () => void this.log.push(`close ${name}`),
    };
  });
  reconcile(...accepted: string[]): Promise<void> {
    const targets: readonly RelatedTarget[] = relatedTargets(
      { permissionClaims: [claim('secrets')], isolation: 'Prefixed' },
      accepted.map((resource) => agreed(resource)),
    );
    return this.syncs.reconcile(targets, POLICY, new Map());
  }
}

describe('the syncs of related resources', () => {
  it('are opened anew when consent comes or goes, one after the other', async () => {
    const recorded = new Recorded();
    await recorded.reconcile('secrets');
    await recorded.reconcile('secrets');
    await recorded.reconcile();
    expect(recorded.log).toEqual([
      'open Secret',
      'start Secret',
      'close Secret',
      'open Secret without consent, knowing ns/a',
      'start Secret without consent',
    ]);
  });

  it('let go at once what is opened after the draining has begun', async () => {
    const recorded = new Recorded();
    await recorded.reconcile('secrets');
    recorded.syncs.drain();
    await recorded.reconcile();
    expect(recorded.log.slice(2)).toEqual([
      'drain Secret',
      'close Secret',
      'open Secret without consent, knowing ns/a',
      'start Secret without consent',
      'drain Secret without consent',
    ]);
  });
});
