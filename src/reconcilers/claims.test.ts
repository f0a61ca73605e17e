import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject } from '../kube/json-value.js';
import type { KubeObject } from '../kube/object.js';
import { decideConsent } from './binding/consent.js';
import { readClaims } from './claims.js';

const HOME = { path: 'root:kube-bind', cluster: 'client0' };
const SECRETS = { group: '', resource: 'secrets' };

function apiBinding(
  accepted: JsonObject[],
  asked: JsonObject[],
  path = HOME.path,
  more: object = {},
): KubeObject {
  return {
    apiVersion: 'apis.kcp.io/v1alpha2',
    kind: 'APIBinding',
    metadata: { name: 'kube-bind', ...more },
    spec: { reference: { export: { path, name: 'x' } }, permissionClaims: accepted },
    status: { exportPermissionClaims: asked },
  };
}

const accepted = (verbs: string[], state = 'Accepted'): JsonObject => ({ ...SECRETS, verbs, state });
const asked = (verbs: string[]): JsonObject => ({ resource: 'secrets', verbs });

describe('claims of a workspace', () => {
  const allows = (objects: KubeObject[]) => readClaims(objects, HOME, 'x').allows(SECRETS, 'get', 'list');

  it.each<[string, KubeObject[], boolean]>([
    ['both sides', [apiBinding([accepted(['get', 'list'])], [asked(['get', 'list'])])], true],
    [
      'every verb, which kcp takes for a verb of that name',
      [apiBinding([accepted(['*'])], [asked(['get', 'list'])])],
      false,
    ],
    ['every verb asked for', [apiBinding([accepted(['get', 'list'])], [asked(['*'])])], false],
    ['every verb on both sides', [apiBinding([accepted(['*'])], [asked(['*'])])], true],
    ['accepted, but not asked for any more', [apiBinding([accepted(['get', 'list'])], [])], false],
    ['asked for, but not accepted', [apiBinding([], [asked(['get', 'list'])])], false],
    ['rejected', [apiBinding([accepted(['get', 'list'], 'Rejected')], [asked(['get', 'list'])])], false],
    ['only some verbs accepted', [apiBinding([accepted(['get'])], [asked(['get', 'list'])])], false],
    ['another export', [apiBinding([accepted(['*'])], [asked(['*'])], 'root:evil')], false],
    ['the cluster name as path', [apiBinding([accepted(['*'])], [asked(['*'])], HOME.cluster)], true],
    [
      'two APIBindings of which one has not accepted',
      [
        apiBinding([accepted(['*'])], [asked(['*'])]),
        apiBinding([], [asked(['*'])], HOME.path, { name: 'b' }),
      ],
      false,
    ],
    [
      'one that is on its way out beside one that has accepted',
      [
        apiBinding([accepted(['*'])], [asked(['*'])]),
        apiBinding([], [], HOME.path, { name: 'b', deletionTimestamp: 'x' }),
      ],
      true,
    ],
    ['none', [], false],
  ])('%s', (_title, objects, expected) => {
    expect(allows(objects)).toBe(expected);
  });
});

describe('the hint about a claim', () => {
  const hint = (given: string[], wanted: string[]) =>
    readClaims([apiBinding([accepted(given)], [asked(wanted)])], HOME, 'x').hint(SECRETS);

  it('says what is wrong with the verb *, and nothing else', () => {
    expect(hint(['*'], ['get'])).toContain('list the verbs');
    expect(hint(['*'], ['*'])).toBe('');
    expect(hint(['get'], ['get', 'list'])).toBe('');
  });
});

describe('consent', () => {
  const resource = fc.constantFrom(
    'secrets',
    'configmaps',
    'serviceaccounts',
    'namespaces',
    'pods',
    'apibindings',
  );
  const claim = fc.record({ group: fc.constantFrom('', 'apis.kcp.io'), resource });
  const state = fc.constantFrom('Accepted' as const, 'Rejected' as const);
  const verbs = fc.subarray(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', '*']);

  it('never puts a claim on an APIBinding that the workspace has not accepted, with verbs and all', () => {
    const inBinding = fc.array(fc.tuple(claim, state).map(([each, answer]) => ({ ...each, state: answer })));
    const inWorkspace = fc.array(
      fc
        .tuple(claim, verbs, verbs, state)
        .map(([each, want, give, answer]) => ({ each, want, give, answer })),
    );
    const reported = fc.option(fc.array(claim.map((each) => ({ ...each, selector: 's' }))), {
      nil: undefined,
    });
    fc.assert(
      fc.property(
        inBinding,
        inWorkspace,
        reported,
        fc.array(claim),
        (permissionClaims, granted, provider, carried) => {
          const workspace = readClaims(
            [
              apiBinding(
                granted.map(({ each, give, answer }) => ({ ...each, verbs: give, state: answer })),
                granted.map(({ each, want }) => ({ ...each, verbs: want })),
              ),
            ],
            HOME,
            'x',
          );
          const consent = decideConsent(
            { connection: 'c', permissionClaims },
            { reported: provider, carried },
            workspace,
          );
          const [leave, ...others] = consent.exportClaims;
          expect(leave).toEqual({ group: 'apis.kcp.io', resource: 'apibindings', verbs: ['get', 'delete'] });
          expect(new Set(others.map(({ resource: name }) => name)).size).toBe(others.length);
          for (const { verbs: given, ...each } of others) expect(workspace.allows(each, ...given)).toBe(true);
          for (const each of consent.accepted) {
            expect(workspace.allows(each, 'get', 'list', 'watch')).toBe(true);
            expect(permissionClaims).toContainEqual({ ...each, state: 'Accepted' });
            expect([...(provider ?? []), ...carried]).toContainEqual(expect.objectContaining(each));
            expect(['secrets', 'configmaps', 'serviceaccounts']).toContain(each.resource);
            expect(each.group).toBe('');
          }
        },
      ),
    );
  });
});
