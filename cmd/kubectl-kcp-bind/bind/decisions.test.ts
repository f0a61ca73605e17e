import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parse } from 'yaml';
import { BINDING_REASONS, CONNECTION_REASONS } from '../../../src/api/conditions.js';
import { generatedExportName } from '../../../src/api/names.js';
import type { ApiBinding, Binding, ClaimState, Connection, Offer } from '../typed-objects.js';
import { connectionNameFor, parseBackendUrl } from './backend-url.js';
import { answerClaims, reviewClaims, SHIPPED_CLAIMS } from './client-claims.js';
import { searchClientBinding } from './client-export.js';
import {
  decideClaims,
  mergeClaims,
  plannedClaims,
  readAcceptance,
  sameClaims,
  unknownClaims,
} from './consent.js';
import { explainBinding, explainConnection, NEEDS_SOMEBODY } from './explain.js';
import { consentedClaims, expectedExport, needsApiBinding } from './generated-binding.js';
import { offerLines, readChoice } from './offers.js';
import { planBinding } from './plan-bindings.js';
import { chooseConnection } from './same-backend.js';

const OFFER: Offer = {
  template: 'cowboys',
  permissionClaims: [
    { group: '', resource: 'secrets' },
    { group: '', resource: 'configmaps' },
  ],
};

function binding(init: Partial<Binding['spec']> = {}, metadata: object = {}, status: object = {}): Binding {
  return {
    metadata: { name: 'cowboys', uid: 'u1', annotations: { 'kcp.io/cluster': 'c1' }, ...metadata },
    spec: { connection: 'west', template: 'cowboys', ...init },
    status,
  };
}

function connection(url: string, metadata: object = {}, backend: object = {}): Connection {
  return { metadata: { name: 'west', ...metadata }, spec: { backend: { url, ...backend } } };
}

function apiBinding(init: object): ApiBinding {
  return { metadata: { name: 'x' }, spec: {}, ...init } as ApiBinding;
}

describe('a provider’s URL', () => {
  it.each([
    ['https://bind.example.com', 'https://bind.example.com', false],
    ['https://Bind.Example.com:443/', 'https://bind.example.com', false],
    ['https://bind.example.com:8443/prefix/', 'https://bind.example.com:8443/prefix', false],
    ['https://bind.example.com/api/exports', 'https://bind.example.com', false],
    ['https://bind.example.com/exports', 'https://bind.example.com', false],
    ['http://bind.example.com', 'http://bind.example.com', true],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080', false],
    ['http://127.0.0.1.example.com', 'http://127.0.0.1.example.com', true],
  ])('%s is %s', (text, url, insecure) => {
    expect(parseBackendUrl(text)).toMatchObject({ url, insecure });
  });

  it.each([
    'bind.example.com',
    'ftp://x',
    'javascript:alert(1)',
    'https://u:p@x',
    'https://u@x',
    'https://x/?a=b',
    'https://x/#a',
    `https://x/${'a'.repeat(3000)}`,
  ])('%s is refused', (text) => expect(() => parseBackendUrl(text)).toThrow());

  it('gives a connection its name', () => {
    expect(connectionNameFor({ url: 'https://bind.example.com' })).toBe('bind.example.com');
    expect(connectionNameFor({ url: 'http://[::1]:8080', clusterID: 'Prod_EU', account: 'default' })).toBe(
      '1-8080-prod-eu',
    );
    expect(connectionNameFor({ url: 'https://x.io', account: 'two' })).toBe('x.io-two');
  });

  it('always gives a name that Kubernetes takes', () => {
    fc.assert(
      fc.property(fc.webUrl(), fc.string(), (url, account) => {
        const name = connectionNameFor({ url, account });
        expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        expect(name.length).toBeLessThanOrEqual(63);
      }),
    );
  });
});

describe('the client’s permission claims', () => {
  it('that the plugin knows are those of the shipped export', () => {
    const shipped = parse(readFileSync('apiexport/apiexport.yaml', 'utf8')) as {
      spec: { permissionClaims: unknown };
    };
    expect(SHIPPED_CLAIMS).toEqual(shipped.spec.permissionClaims);
  });

  it('are all accepted, apibindings only when the user lets it', () => {
    const states = (apiBindings: boolean): string[] =>
      answerClaims(SHIPPED_CLAIMS, { apiBindings })
        .filter(({ state }) => state === 'Rejected')
        .map(({ resource }) => resource);
    expect(states(true)).toEqual([]);
    expect(states(false)).toEqual(['apibindings']);
  });

  it('are compared with what the bound export asks for', () => {
    const answered = answerClaims([{ group: '', resource: 'secrets' }, { resource: 'events' }], {
      apiBindings: true,
    });
    const review = reviewClaims(
      apiBinding({
        spec: { permissionClaims: [{ ...answered[0], state: 'Rejected' }, answered[1]] },
        status: {
          exportPermissionClaims: [{ resource: 'secrets' }, { resource: 'namespaces', identityHash: '' }],
        },
      }),
    );
    expect(review.unanswered.map(({ resource }) => resource)).toEqual(['namespaces']);
    expect(review.superfluous.map(({ resource }) => resource)).toEqual(['events']);
    expect(review.rejected.map(({ resource }) => resource)).toEqual(['secrets']);
  });
});

describe('the APIBinding to the client export', () => {
  const reference = { path: 'root:kube-bind', name: 'kcp.kube-bind.io' };
  const to = (path: string | undefined, name: string, more: object = {}): ApiBinding =>
    apiBinding({
      metadata: { name: `to-${name}` },
      spec: { reference: { export: { path, name } } },
      ...more,
    });
  const serving = {
    status: { boundResources: [{ group: 'kcp.kube-bind.io', resource: 'kubebindconnections' }] },
  };

  it.each([
    ['by its reference', [to('root:kube-bind', 'kcp.kube-bind.io')], 'found'],
    [
      'by the logical cluster of its reference',
      [to('root:kube-bind', 'other', serving), to('root:kube-bind', 'kcp.kube-bind.io')],
      'found',
    ],
    ['elsewhere, by name', [to('abc', 'kcp.kube-bind.io')], 'elsewhere'],
    ['elsewhere, by what it serves', [to('root:x', 'renamed', serving)], 'elsewhere'],
    ['not among others', [to('root', 'tenancy.kcp.io')], 'absent'],
  ])('is found %s', (_name, bindings, kind) => {
    expect(searchClientBinding(bindings, reference).kind).toBe(kind);
  });

  it('gets a name that is free', () => {
    const taken = { ...to('root', 'tenancy.kcp.io'), metadata: { name: 'kcp.kube-bind.io' } };
    expect(searchClientBinding([taken], reference)).toEqual({
      kind: 'absent',
      name: 'kcp.kube-bind.io-client',
    });
  });
});

describe('the connection of a run', () => {
  const wish = { backend: { url: 'https://w.io/' }, name: undefined, derivedName: 'w.io' };
  it.each([
    ['the same backend under any name', [connection('https://W.io')], wish, 'use'],
    ['nothing of it', [connection('https://other.io')], wish, 'create'],
    ['another account of it', [connection('https://w.io', {}, { account: 'two' })], wish, 'create'],
    ['one that is leaving', [connection('https://w.io', { deletionTimestamp: 'now' })], wish, 'create'],
    [
      'the derived name for another backend',
      [connection('https://x.io', { name: 'w.io' })],
      wish,
      'conflict',
    ],
    ['the given name for the same backend', [connection('https://w.io')], { ...wish, name: 'west' }, 'use'],
    [
      'the given name for another backend',
      [connection('https://x.io')],
      { ...wish, name: 'west' },
      'conflict',
    ],
    [
      'the given name while that leaves',
      [connection('https://w.io', { deletionTimestamp: 'now' })],
      { ...wish, name: 'west' },
      'conflict',
    ],
    ['another name for the same backend', [connection('https://w.io')], { ...wish, name: 'east' }, 'create'],
  ])('where there is %s', (_name, connections, given, kind) => {
    expect(chooseConnection(connections, given).kind).toBe(kind);
  });

  it('is the oldest of several', () => {
    const connections = [
      connection('https://w.io', { name: 'b', creationTimestamp: '2026-02-01T00:00:00Z' }),
      connection('https://w.io', { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' }),
    ];
    expect(chooseConnection(connections, wish)).toMatchObject({ connection: { metadata: { name: 'a' } } });
  });
});

describe('consent', () => {
  it.each([
    [[], { kind: 'unsaid' }],
    [['all'], { kind: 'all' }],
    [['none'], { kind: 'none' }],
    [['secrets, configmaps', 'secrets'], { kind: 'named', names: ['secrets', 'configmaps'] }],
  ])('--accept-claims %j', (values, expected) => expect(readAcceptance(values)).toEqual(expected));

  it.each([[['all', 'secrets']], [['none,all']], [['secrets,']]])(
    '--accept-claims %j is refused',
    (values) => {
      expect(() => readAcceptance(values)).toThrow();
    },
  );

  it.each([
    [{ kind: 'all' } as const, ['Accepted', 'Accepted']],
    [{ kind: 'none' } as const, ['Rejected', 'Rejected']],
    [{ kind: 'unsaid' } as const, ['Rejected', 'Rejected']],
    [{ kind: 'named', names: ['configmaps'] } as const, ['Rejected', 'Accepted']],
  ])('%j gives %j', (acceptance, states) => {
    expect(decideClaims(OFFER, acceptance).map(({ state }) => state)).toEqual(states);
  });

  it('names claims that nobody asks for', () => {
    expect(unknownClaims([OFFER], { kind: 'named', names: ['secrets', 'secret'] })).toEqual(['secret']);
    expect(unknownClaims([OFFER], { kind: 'all' })).toEqual([]);
  });

  it('can be planned before the offers are known', () => {
    expect(plannedClaims({ kind: 'named', names: ['secrets', 'widgets.a.b'] })).toEqual([
      { group: '', resource: 'secrets', state: 'Accepted' },
      { group: 'a.b', resource: 'widgets', state: 'Accepted' },
    ]);
    expect(plannedClaims({ kind: 'all' })).toHaveLength(3);
    expect(plannedClaims({ kind: 'none' })).toEqual([]);
  });

  it('keeps answers that new ones do not mention; merging again changes nothing', () => {
    const claims = fc.array(
      fc.record({
        group: fc.constantFrom('', 'a.b'),
        resource: fc.constantFrom('secrets', 'configmaps'),
        state: fc.constantFrom<ClaimState['state']>('Accepted', 'Rejected'),
      }),
    );
    fc.assert(
      fc.property(claims, claims, (old, fresh) => {
        const merged = mergeClaims(old, fresh);
        expect(sameClaims(mergeClaims(merged, fresh), merged)).toBe(true);
        expect(new Set(merged.map(({ group, resource }) => `${group}/${resource}`)).size).toBe(merged.length);
      }),
    );
  });
});

describe('the choice of templates', () => {
  const offers: Offer[] = [{ template: 'a' }, { template: 'b' }, { template: '3' }];
  it.each([
    ['1, b', ['a', 'b']],
    ['b a b', ['a', 'b']],
    ['3', ['3']],
    ['all', ['a', 'b', '3']],
  ])('%j chooses %j', (answer, expected) => {
    expect(readChoice(answer, offers)).toEqual({
      kind: 'chosen',
      offers: offers.filter(({ template }) => expected.includes(template)),
    });
  });
  it.each([
    ['', 'nothing'],
    [' , ', 'nothing'],
    ['0', 'unclear'],
    ['4', 'unclear'],
    ['-1', 'unclear'],
    ['c', 'unclear'],
  ])('%j is %s', (answer, kind) => expect(readChoice(answer, offers).kind).toBe(kind));

  it('is shown without what could change the terminal', () => {
    const hostile: Offer[] = [{ template: 'a', title: '\u001b]0;x\u0007', description: 'one\ntwo\u202e' }];
    expect(offerLines(hostile).join('\n')).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
  });
});

describe('a wanted template', () => {
  const wanted = { template: 'cowboys', name: undefined, claims: undefined };
  const accepted: ClaimState[] = [{ group: '', resource: 'secrets', state: 'Accepted' }];
  it.each([
    ['is created where nothing is', [], wanted, 'create'],
    ['adopts a binding of any name', [binding({}, { name: 'other' })], wanted, 'adopt'],
    [
      'is created beside another connection’s',
      [binding({ connection: 'east' }, { name: 'other' })],
      wanted,
      'create',
    ],
    [
      'conflicts with another connection’s of its name',
      [binding({ connection: 'east' })],
      wanted,
      'conflict',
    ],
    ['conflicts with one that is leaving', [binding({}, { deletionTimestamp: 'now' })], wanted, 'conflict'],
    ['is made once more under --name', [binding()], { ...wanted, name: 'second' }, 'create'],
    ['changes consent', [binding()], { ...wanted, claims: accepted }, 'consent'],
    [
      'changes no consent that is the same',
      [binding({ permissionClaims: accepted })],
      { ...wanted, claims: accepted },
      'adopt',
    ],
  ])('%s', (_name, existing, given, kind) => {
    expect(planBinding(existing, 'west', given).kind).toBe(kind);
  });
});

describe('what holds something back', () => {
  const state = (type: string, status: string, reason: string, message = 'm'): object => ({
    type,
    status,
    reason,
    message,
  });
  const of = (conditions: object[], more: object = {}): Binding => binding({}, {}, { conditions, ...more });

  it('is only looked for in the closed list of reasons', () => {
    const known = new Set<string>([
      ...Object.values(CONNECTION_REASONS).flat(),
      ...Object.values(BINDING_REASONS).flat(),
    ]);
    expect([...NEEDS_SOMEBODY].filter((reason) => !known.has(reason))).toEqual([]);
  });

  it.each([
    ['nothing', [state('Ready', 'True', 'Ready')], { kind: 'ready' }],
    ['the controller’s silence', [], { kind: 'waiting', why: 'the controller has not reported yet' }],
    [
      'the first False of the chain',
      [
        state('Syncing', 'False', 'Pending'),
        state('ExportReady', 'False', 'RequestPending', 'soon'),
        state('Ready', 'False', 'NotReady'),
      ],
      { kind: 'waiting', why: 'ExportReady RequestPending: soon' },
    ],
    [
      'an Unknown one before Ready',
      [state('APIBound', 'Unknown', 'Pending', 'kcp works'), state('Ready', 'False', 'NotReady')],
      { kind: 'waiting', why: 'APIBound Pending: kcp works' },
    ],
    [
      'not a claim that was not accepted',
      [state('PermissionClaimsAccepted', 'False', 'NotAccepted'), state('Syncing', 'False', 'Pending', 's')],
      { kind: 'waiting', why: 'Syncing Pending: s' },
    ],
    [
      'what needs somebody',
      [state('SchemaInSync', 'False', 'Unsupported', 'u')],
      { kind: 'stuck', reason: 'Unsupported' },
    ],
  ])('is %s', (_name, conditions, expected) => {
    expect(explainBinding(of(conditions))).toMatchObject(expected);
  });

  it('is nothing that an older generation’s status says', () => {
    const stale = of([state('Ready', 'True', 'Ready')], { observedGeneration: 1 });
    stale.metadata.generation = 2;
    expect(explainBinding(stale).kind).toBe('waiting');
  });

  it('is not that a connection was not used yet', () => {
    const unused = connection('https://x');
    unused.status = {
      conditions: [
        state('CredentialsValid', 'Unknown', 'NotUsedYet'),
        state('Authenticated', 'False', 'LoginExpired', 'log in again'),
      ],
    } as NonNullable<Connection['status']>;
    expect(explainConnection(unused)).toMatchObject({ kind: 'stuck', reason: 'LoginExpired' });
  });
});

describe('a generated export', () => {
  const name = generatedExportName('c1', 'u1');
  const client = apiBinding({
    spec: {
      reference: { export: { path: 'root:kube-bind', name: 'kcp.kube-bind.io' } },
      permissionClaims: [
        { group: '', resource: 'secrets', state: 'Accepted' },
        { group: '', resource: 'namespaces', state: 'Accepted' },
        { group: '', resource: 'configmaps', state: 'Rejected' },
      ],
    },
    status: { apiExportClusterName: 'clientcluster' },
  });
  const shown = (apiExport: object): Binding => binding({}, {}, { apiExport });

  it('is bound when it is the one of this binding, at the client’s place', () => {
    expect(expectedExport(shown({ path: 'root:kube-bind', name }), client)).toEqual({
      path: 'root:kube-bind',
      name,
    });
    expect(expectedExport(shown({ path: 'clientcluster', name }), client)).toEqual({
      path: 'clientcluster',
      name,
    });
  });

  it.each([
    ['another place', { path: 'root:evil', name }],
    ['another name', { path: 'root:kube-bind', name: generatedExportName('c1', 'u2') }],
    ['another workspace’s name', { path: 'root:kube-bind', name: generatedExportName('c2', 'u1') }],
  ])('is not bound when the status names %s', (_name, apiExport) => {
    expect(() => expectedExport(shown(apiExport), client)).toThrow(/not the one generated/);
  });

  it('is bound by the plugin only for the missing claim, and not while the binding goes', () => {
    const conditions = [{ type: 'APIBound', status: 'False', reason: 'ClaimMissing' }];
    const waiting = binding({}, {}, { apiExport: { name }, conditions });
    expect(needsApiBinding(waiting)).toBe(true);
    expect(needsApiBinding(binding({}, { deletionTimestamp: 'now' }, waiting.status))).toBe(false);
    expect(needsApiBinding(binding({}, {}, { conditions }))).toBe(false);
  });

  it('gets only claims that were accepted in both places', () => {
    const bound = apiBinding({
      status: {
        exportPermissionClaims: [
          { group: 'apis.kcp.io', resource: 'apibindings', verbs: ['get', 'delete'] },
          { group: '', resource: 'secrets', verbs: ['get'] },
          { group: '', resource: 'configmaps', verbs: ['get'] },
          { group: '', resource: 'namespaces', verbs: ['get'] },
          { group: '', resource: 'serviceaccounts', verbs: ['get'] },
        ],
      },
    });
    const accepted = (...resources: string[]): Binding =>
      binding({
        permissionClaims: resources.map((resource) => ({ group: '', resource, state: 'Accepted' })),
      });
    const names = (given: Binding): string[] =>
      consentedClaims(bound, given, client).map(({ resource }) => resource);
    expect(names(accepted('secrets', 'configmaps', 'serviceaccounts'))).toEqual([
      'apibindings',
      'secrets',
      'namespaces',
    ]);
    expect(names(accepted())).toEqual(['apibindings']);
  });

  it('never gets more on APIBindings than what it needs to leave', () => {
    const greedy = apiBinding({
      status: {
        exportPermissionClaims: [{ group: 'apis.kcp.io', resource: 'apibindings', verbs: ['get', 'create'] }],
      },
    });
    expect(consentedClaims(greedy, binding(), client)).toEqual([]);
  });
});
