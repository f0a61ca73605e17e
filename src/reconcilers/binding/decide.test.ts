import { describe, expect, it } from '@jest/globals';
import type { BindingConditionType } from '../../api/conditions.js';
import { BINDING_REASONS } from '../../api/conditions.js';
import { expectReason, type ProducedReason } from '../../api/testing/expect-reason.js';
import {
  claims,
  ACCOUNT,
  apiBinding,
  bindingObservation,
  finishedExport,
  no,
  report,
  REF,
  SCHEMAS,
} from '../testing/observations.js';
import { decideBinding } from './decide.js';
import type { BindingObservation, ConnectionView, MissingParts } from './observation.js';

const PRESENT = bindingObservation().connection as Extract<ConnectionView, { kind: 'present' }>;
const SECRETS = { group: '', resource: 'secrets', selector: 'all' };
const WIDGETS = { group: 'example.org', resource: 'widgets', versions: ['v1'] };
const OFFER = { template: 'widgets', resources: [WIDGETS], permissionClaims: [] };
const ACCEPTS_SECRETS = {
  ...bindingObservation().spec,
  permissionClaims: [{ group: '', resource: 'secrets', state: 'Accepted' as const }],
};

const said = (
  type: 'Connected' | 'ExportReady' | 'SchemaInSync' | 'Syncing',
  reason: string,
): Partial<BindingObservation> => {
  const good = report();
  const latest = { ...good, conditions: { ...good.conditions, [type]: no(reason) } };
  return { latest, fresh: latest };
};
const withConditions = (
  ...conditions: { type: string; status: string; reason: string; message: string }[]
): Partial<BindingObservation> => ({
  apiBinding: { kind: 'found', ours: true, object: apiBinding({ status: { phase: 'Bound', conditions } }) },
});
const unbound: Partial<BindingObservation> = { apiBinding: { kind: 'none' }, access: { kind: 'none' } };
const fresh: Partial<BindingObservation> = {
  ...unbound,
  generated: undefined,
  latest: undefined,
  fresh: undefined,
  schemas: undefined,
};

const ALL_MISSING: MissingParts = {
  identity: true,
  schemas: SCHEMAS.kind === 'usable' ? SCHEMAS.schemas.map(({ name }) => name) : [],
  account: true,
  role: true,
  roleBinding: true,
  bindRole: 'fine',
  oldSchemas: [],
};
const NOTHING_MISSING: MissingParts = {
  ...ALL_MISSING,
  identity: false,
  schemas: [],
  account: false,
  role: false,
  roleBinding: false,
};

/** With the hash of the plan, and another schema. */
const SOMEBODY_ELSES = {
  ...finishedExport(),
  spec: { resources: [{ group: 'example.test', name: 'widgets', schema: 'somebody.widgets.example.test' }] },
};

const KEPT: Partial<BindingObservation> =
  SCHEMAS.kind !== 'usable'
    ? {}
    : {
        schemas: {
          ...SCHEMAS,
          kept: [{ group: 'example.test', resource: 'widgets', version: 'v1alpha1', instead: 'v1' }],
        },
      };

const TABLE: [string, Partial<BindingObservation>, ProducedReason, string, string][] = [
  ['everything well', {}, 'binding/Ready/Ready', 'True', 'Ready'],
  ['a served API', {}, 'binding/APIBound/Bound', 'True', 'Ready'],
  ['a schema in sync', {}, 'binding/SchemaInSync/InSync', 'True', 'Ready'],
  ['a version that only kcp needs', KEPT, 'binding/SchemaInSync/VersionKept', 'True', 'Ready'],
  [
    'no connection',
    { ...fresh, connection: { kind: 'missing' } },
    'binding/Connected/ConnectionNotFound',
    'False',
    'Pending',
  ],
  [
    'no account',
    { ...fresh, connection: { ...PRESENT, account: undefined } },
    'binding/Connected/ConnectionNotReady',
    'False',
    'Pending',
  ],
  [
    'a connection that goes',
    { connection: { ...PRESENT, deleting: true } },
    'binding/Connected/ConnectionDeleting',
    'False',
    'Degraded',
  ],
  [
    'another contract namespace',
    { connection: { ...PRESENT, account: { ...ACCOUNT, contractNamespaceUid: 'other' } } },
    'binding/Connected/ProviderChanged',
    'False',
    'Degraded',
  ],
  [
    'a worker that is still silent',
    { latest: undefined, fresh: undefined },
    'binding/Connected/ProviderUnreachable',
    'Unknown',
    'Binding',
  ],
  ['no claims', {}, 'binding/PermissionClaimsAccepted/NoClaims', 'True', 'Ready'],
  [
    'claims not known',
    { latest: undefined, fresh: undefined },
    'binding/PermissionClaimsAccepted/Unknown',
    'Unknown',
    'Binding',
  ],
  [
    'claims that nobody accepted',
    { latest: report({ claims: [SECRETS] }) },
    'binding/PermissionClaimsAccepted/NotAccepted',
    'False',
    'Ready',
  ],
  [
    'claims accepted on both sides',
    { latest: report({ claims: [SECRETS] }), spec: ACCEPTS_SECRETS },
    'binding/PermissionClaimsAccepted/Accepted',
    'True',
    'Ready',
  ],
  [
    'claims that only the binding accepts',
    {
      latest: report({ claims: [SECRETS] }),
      spec: ACCEPTS_SECRETS,
      claims: claims('apibindings.apis.kcp.io'),
    },
    'binding/PermissionClaimsAccepted/NotAccepted',
    'False',
    'Ready',
  ],
  ['no export yet', fresh, 'binding/ExportReady/Pending', 'Unknown', 'Binding'],
  [
    'a template that the connection does not offer',
    { ...said('ExportReady', 'ExportNotFound'), ...unbound, generated: undefined, schemas: undefined },
    'binding/ExportReady/TemplateNotFound',
    'False',
    'Binding',
  ],
  ['no schema yet', fresh, 'binding/SchemaInSync/Pending', 'Unknown', 'Binding'],
  [
    'a schema that kcp refuses',
    { schemas: { kind: 'refused', condition: no('Rejected') } },
    'binding/SchemaInSync/Rejected',
    'False',
    'Degraded',
  ],
  ['an API that is being bound', unbound, 'binding/APIBound/Pending', 'Unknown', 'Binding'],
  [
    'no claim on apibindings',
    { ...unbound, claims: claims('secrets.') },
    'binding/APIBound/ClaimMissing',
    'False',
    'Binding',
  ],
  [
    'a name that is taken',
    withConditions({
      type: 'BindingUpToDate',
      status: 'False',
      reason: 'NamingConflicts',
      message: 'widgets',
    }),
    'binding/APIBound/NameConflict',
    'False',
    'Binding',
  ],
  [
    'a name that is taken, at the first binding',
    withConditions({
      type: 'InitialBindingCompleted',
      status: 'False',
      reason: 'NamingConflicts',
      message: 'widgets',
    }),
    'binding/APIBound/NameConflict',
    'False',
    'Binding',
  ],
  [
    'a schema that kcp cannot serve',
    withConditions({
      type: 'BindingUpToDate',
      status: 'False',
      reason: 'APIResourceSchemaInvalid',
      message: 'x',
    }),
    'binding/APIBound/NotServed',
    'False',
    'Binding',
  ],
  [
    'bound, not served',
    { access: { kind: 'not-served', message: '404' } },
    'binding/APIBound/NotServed',
    'False',
    'Binding',
  ],
  [
    'an APIBinding of our name to elsewhere',
    { ...unbound, apiBinding: { kind: 'name-taken', refersTo: 'root:x:y' } },
    'binding/APIBound/ForeignAPIBinding',
    'False',
    'Binding',
  ],
  [
    'two APIBindings',
    { ...unbound, apiBinding: { kind: 'several', names: ['a', 'b'], ours: undefined } },
    'binding/APIBound/ForeignAPIBinding',
    'False',
    'Binding',
  ],
  ['a dying workspace', { workspaceDying: true }, 'binding/APIBound/WorkspaceDeleting', 'False', 'Binding'],
  [
    'an APIBinding that cannot be seen',
    { ...unbound, apiBinding: { kind: 'unknown', message: 'm' } },
    'binding/APIBound/Pending',
    'Unknown',
    'Binding',
  ],
  ['no worker yet', fresh, 'binding/Syncing/Pending', 'Unknown', 'Binding'],
  [
    'a paused binding',
    { ...said('Syncing', 'Paused'), spec: { ...bindingObservation().spec, paused: true } },
    'binding/Ready/Paused',
    'False',
    'Paused',
  ],
  ['anything amiss', said('Syncing', 'ObjectsFailing'), 'binding/Ready/NotReady', 'False', 'Degraded'],
  ['a deletion', { deleting: true }, 'binding/Ready/Deleting', 'False', 'Deleting'],
  [
    'a deletion, while the worker drains',
    { deleting: true, fresh: undefined },
    'binding/Syncing/Draining',
    'False',
    'Deleting',
  ],
  [
    'a deletion without credentials',
    { deleting: true, connection: { kind: 'missing' } },
    'binding/Syncing/WaitingForProvider',
    'False',
    'Deleting',
  ],
  [
    'a deletion whose objects cannot be reached',
    { deleting: true, access: { kind: 'not-served', message: 'm' } },
    'binding/Syncing/ConsumerUnreachable',
    'False',
    'Deleting',
  ],
  [
    'a deletion that an APIBinding of somebody else holds up',
    {
      deleting: true,
      progress: { drained: true, cleaned: false },
      apiBinding: { kind: 'found', object: apiBinding(), ours: false },
    },
    'binding/APIBound/ForeignAPIBinding',
    'False',
    'Deleting',
  ],
  [
    'a deletion that is through',
    {
      ...unbound,
      deleting: true,
      progress: { drained: true, cleaned: true, left: [] },
      namespacesInUse: [],
    },
    'binding/Syncing/Released',
    'False',
    'Deleting',
  ],
];

/** Reasons that others decide: workers, the pool, and the comparison of schemas. */
const PASSED_ON: [string, Partial<BindingObservation>, BindingConditionType, string, string, string][] = [
  [
    'refused credentials',
    said('Connected', 'Unauthorized'),
    'Connected',
    'False',
    'Unauthorized',
    'Degraded',
  ],
  [
    'a schema that the worker cannot convert',
    { ...said('SchemaInSync', 'Unsupported'), schemas: undefined },
    'SchemaInSync',
    'False',
    'Unsupported',
    'Degraded',
  ],
  [
    'a schema that cannot be followed',
    { schemas: { kind: 'refused', condition: no('Incompatible') } },
    'SchemaInSync',
    'False',
    'Incompatible',
    'Degraded',
  ],
  ['a dead worker', said('Syncing', 'WorkerFailed'), 'Syncing', 'False', 'WorkerFailed', 'Degraded'],
];

describe('conditions of a binding', () => {
  const decided = (change: Partial<BindingObservation>, type: string | undefined) => {
    const { status } = decideBinding(bindingObservation(change));
    return { phase: status?.phase, state: status?.conditions.find(([each]) => each === type)?.[1] };
  };

  it.each(TABLE)('with %s', (_title, ...[change, produced, status, phase]) => {
    const decision = decided(change, produced.split('/')[1]);
    expectReason(produced, decision.state);
    expect(decision).toMatchObject({ phase, state: { status } });
    if (status === 'False') expect(decision.state?.message).not.toBe('');
  });

  it.each(PASSED_ON)('with %s', (_title, ...[change, type, status, reason, phase]) => {
    expect(decided(change, type)).toMatchObject({ phase, state: { status, reason } });
  });

  it('have no reason that is not in the closed list', () => {
    const closed: Readonly<Record<string, readonly string[]>> = BINDING_REASONS;
    const given = [...TABLE, ...PASSED_ON].flatMap(
      ([, change]) => decideBinding(bindingObservation(change)).status?.conditions ?? [],
    );
    expect(given.filter(([type, { reason }]) => closed[type]?.includes(reason) !== true)).toEqual([]);
  });

  it.each([
    ['another schema of the API', 'widgets', 'Unknown', 'Pending'],
    ['another API, from a former state of the export,', 'gone', 'True', 'InSync'],
  ])('with %s on the APIBinding', (_title, resource, status, reason) => {
    const [{ group } = { group: '' }] = SCHEMAS.kind === 'usable' ? SCHEMAS.schemas : [];
    const boundResources = [{ group, resource, schema: { name: `other.${resource}.${group}` } }];
    const object = apiBinding({ status: { phase: 'Bound', boundResources } });
    const plan = decideBinding(bindingObservation({ apiBinding: { kind: 'found', ours: true, object } }));
    const state = plan.status?.conditions.find(([type]) => type === 'SchemaInSync')?.[1];
    expect(state).toMatchObject({ status, reason });
  });

  it('stays Ready with a schema that the backend does not follow any more, and says so', () => {
    const state = { status: 'Unknown', reason: 'NotFollowed', message: 'since then' } as const;
    const good = report();
    const latest = { ...good, conditions: { ...good.conditions, SchemaInSync: state } };
    const plan = decideBinding(bindingObservation({ latest, fresh: latest }));
    expect(plan.status).toMatchObject({ phase: 'Ready' });
    const conditions = new Map(plan.status?.conditions);
    expect(conditions.get('SchemaInSync')).toEqual(state);
    expect(conditions.get('Ready')?.status).toBe('True');
  });

  it('says which version is kept, why, and until when, also where the backend does not follow', () => {
    const { state } = decided(KEPT, 'SchemaInSync');
    expect(state?.message).toMatch(/version v1alpha1 of widgets\.example\.test \(use v1\)/);
    expect(state?.message).toMatch(/storageVersions of APIBinding \S+\)/);
    expect(state?.message).toContain('deleted and created again');
    const good = report();
    const unfollowed = { status: 'Unknown', reason: 'NotFollowed', message: 'since then' } as const;
    const latest = { ...good, conditions: { ...good.conditions, SchemaInSync: unfollowed } };
    const both = decided({ ...KEPT, latest, fresh: latest }, 'SchemaInSync');
    expect(both).toMatchObject({ phase: 'Ready', state: { status: 'Unknown', reason: 'NotFollowed' } });
    expect(both.state?.message).toBe(`since then ${state?.message}`);
  });

  it('says what of a schema is served in a reduced form', () => {
    const state = { status: 'True', reason: 'InSync', message: 'Served in a reduced form: x' } as const;
    const good = report();
    const latest = { ...good, conditions: { ...good.conditions, SchemaInSync: state } };
    const { status } = decideBinding(bindingObservation({ latest, fresh: latest }));
    expect(new Map(status?.conditions).get('SchemaInSync')).toEqual(state);
  });

  it.each<[string, Partial<BindingObservation>]>([
    ['the export was there before', {}],
    [
      'the template is offered',
      { ...fresh, connection: { ...PRESENT, account: { ...ACCOUNT, offers: [OFFER] } } },
    ],
    [
      'there are no offers to compare with',
      { ...fresh, connection: { ...PRESENT, account: { ...ACCOUNT, source: 'secret' } } },
    ],
    ['no template is asked for', { ...fresh, spec: { connection: 'c', resources: [WIDGETS] } }],
  ])('lets the worker say what is wrong with the export where %s', (_title, change) => {
    const plan = decideBinding(bindingObservation({ ...change, ...said('ExportReady', 'ExportNotFound') }));
    const state = plan.status?.conditions.find(([type]) => type === 'ExportReady')?.[1];
    expect(state).toEqual(no('ExportNotFound'));
  });

  it('names the export and gives the YAML where the user has to bind it', () => {
    const plan = decideBinding(bindingObservation({ ...unbound, claims: claims('secrets.') }));
    const message = plan.status?.conditions.find(([type]) => type === 'APIBound')?.[1].message ?? '';
    expect(message).toContain('kind: APIBinding');
    expect(message).toContain(finishedExport().metadata.name);
    expect(message).toContain('resource: apibindings');
  });
});

describe('steps of a binding', () => {
  const steps = (change: Partial<BindingObservation>) =>
    decideBinding(bindingObservation(change)).steps.map(({ name }) => name.replace('binding.', ''));

  it.each<[string, Partial<BindingObservation>, string[]]>([
    ['puts its finalizer on before anything else', { ...fresh, hasFinalizer: false }, ['finalizer.add']],
    ['begins nothing in a dying workspace', { ...fresh, hasFinalizer: false, workspaceDying: true }, []],
    ['asks the worker first', fresh, ['worker.assign']],
    ['does nothing without an account', { ...fresh, connection: { ...PRESENT, account: undefined } }, []],
    [
      'makes the parts in the one order that a crash may cut',
      { ...unbound, generated: undefined, missing: ALL_MISSING },
      [
        'worker.assign',
        'identity.create',
        'schema.create',
        'account.create',
        'role.apply',
        'role-binding.apply',
        'export.create',
      ],
    ],
    [
      'makes nothing of it in a dying workspace',
      { ...unbound, generated: undefined, missing: ALL_MISSING, workspaceDying: true },
      ['worker.assign'],
    ],
    ['binds the export', unbound, ['worker.assign', 'api-binding.create']],
    [
      'never makes a second APIBinding',
      { apiBinding: { kind: 'unknown', message: 'm' }, access: { kind: 'none' } },
      ['worker.assign'],
    ],
    [
      'leaves binding to the user without the claim',
      { ...unbound, claims: claims('secrets.'), generated: finishedExport({ bindByUser: true }) },
      ['worker.assign'],
    ],
    [
      'makes the role with which users bind',
      {
        ...unbound,
        claims: claims('secrets.'),
        generated: finishedExport({ bindByUser: true }),
        missing: { ...NOTHING_MISSING, bindRole: 'missing' },
      },
      ['worker.assign', 'bind-role.apply'],
    ],
    [
      'brings back a missing export with its identity',
      { generated: undefined, missing: NOTHING_MISSING, access: { kind: 'not-served', message: '' } },
      ['worker.assign', 'export.create'],
    ],
    ['makes no second identity', { missing: { ...NOTHING_MISSING, identity: true } }, ['worker.assign']],
    [
      'points the export at a new schema',
      {
        generated: finishedExport({ contractUid: 'x' }),
        connection: { ...PRESENT, account: { ...ACCOUNT, offers: [] } },
        spec: { ...bindingObservation().spec, deletionPolicy: 'Orphan' },
        missing: NOTHING_MISSING,
      },
      ['worker.assign', 'export.update'],
    ],
    [
      'points it back when somebody pointed it elsewhere',
      { generated: SOMEBODY_ELSES, missing: NOTHING_MISSING },
      ['worker.assign', 'export.update'],
    ],
    [
      'points it back while the binding goes: kcp could not empty the workspace',
      {
        deleting: true,
        generated: SOMEBODY_ELSES,
        missing: NOTHING_MISSING,
        access: { kind: 'not-served', message: '429' },
      },
      ['export.update'],
    ],
    [
      'removes schemas that nothing names',
      { missing: { ...NOTHING_MISSING, oldSchemas: ['old'] } },
      ['worker.assign', 'schema.remove-old'],
    ],
    [
      'changes nothing for a schema that cannot be followed',
      { schemas: { kind: 'refused', condition: no('Incompatible') }, missing: ALL_MISSING },
      ['worker.assign'],
    ],
    [
      'never touches an APIBinding of somebody else',
      {
        latest: report({ claims: [SECRETS] }),
        spec: ACCEPTS_SECRETS,
        apiBinding: { kind: 'found', object: apiBinding(), ours: false },
      },
      ['worker.assign'],
    ],
    [
      'accepts claims on its own',
      { latest: report({ claims: [SECRETS] }), spec: ACCEPTS_SECRETS },
      ['worker.assign', 'api-binding.update'],
    ],
    ['drains', { deleting: true }, ['worker.assign']],
    ['does not drain blindly', { deleting: true, access: { kind: 'none' } }, []],
    ['waits where it cannot tell', { deleting: true, apiBinding: { kind: 'unknown', message: 'm' } }, []],
    [
      'unbinds after draining',
      { deleting: true, progress: { drained: true, cleaned: false } },
      ['api-binding.delete'],
    ],
    [
      'waits until the APIBinding is gone',
      {
        deleting: true,
        progress: { drained: true, cleaned: false },
        apiBinding: {
          kind: 'found',
          ours: true,
          object: apiBinding({ metadata: { ...apiBinding().metadata, deletionTimestamp: 'x' } }),
        },
      },
      [],
    ],
    [
      'takes the export apart',
      { ...unbound, deleting: true, progress: { drained: true, cleaned: false } },
      ['export.delete', 'schemas.delete', 'account.delete', 'identity.delete'],
    ],
    [
      'leaves the provider',
      {
        ...unbound,
        deleting: true,
        generated: undefined,
        progress: { drained: true, cleaned: true },
        namespacesInUse: [],
      },
      ['worker.assign'],
    ],
    [
      'leaves no provider while others might have copies there',
      {
        ...unbound,
        deleting: true,
        generated: undefined,
        progress: { drained: true, cleaned: true },
        namespacesInUse: undefined,
      },
      [],
    ],
    [
      'lets go',
      {
        ...unbound,
        deleting: true,
        generated: undefined,
        progress: { drained: true, cleaned: true, left: [] },
        namespacesInUse: [],
      },
      ['worker.release', 'finalizer.remove'],
    ],
    [
      'lets go of a binding that is gone',
      {
        ...unbound,
        deleting: true,
        exists: false,
        hasFinalizer: false,
        generated: undefined,
        progress: { drained: true, cleaned: true, left: [] },
        namespacesInUse: [],
      },
      ['worker.release'],
    ],
    [
      'needs no provider where nothing was made',
      { ...fresh, deleting: true, connection: { kind: 'missing' } },
      ['export.delete', 'schemas.delete', 'account.delete', 'identity.delete'],
    ],
    [
      'drains without a provider when forced',
      { deleting: true, force: true, connection: { kind: 'missing' } },
      ['worker.assign'],
    ],
    ['does nothing once its finalizer is off', { deleting: true, hasFinalizer: false }, []],
  ])('%s', (_title, change, expected) => {
    expect(steps(change)).toEqual(expected);
  });

  const assignment = (change: Partial<BindingObservation>) => {
    const step = decideBinding(bindingObservation(change)).steps.find(
      ({ name }) => name === 'binding.worker.assign',
    );
    return step?.name === 'binding.worker.assign' ? step.assignment : undefined;
  };

  it('hands out the consumer only when it is served', () => {
    expect(assignment({})).toMatchObject({
      stage: 'sync',
      consumer: { credentials: { auth: { token: 't' } } },
    });
    expect(assignment({ access: { kind: 'not-served', message: '' } })).toMatchObject({ stage: 'prepare' });
    expect(assignment({ access: { kind: 'not-served', message: '' } })).not.toHaveProperty('consumer');
  });

  it('holds the worker to the contract namespace that the export was made for', () => {
    expect(
      assignment({ generated: finishedExport({ contractUid: 'first' }) })?.provider.contractNamespaceUid,
    ).toBe('first');
  });

  it('asks for an offer as it was made, and for nothing without one', () => {
    const offer = {
      template: 'widgets',
      resources: [{ group: 'example.test', resource: 'widgets', versions: ['v1'] }],
      permissionClaims: [{ group: '', resource: 'secrets', selector: { namedResources: [{ name: 'x' }] } }],
      schemaUpdatePolicy: 'Always' as const,
    };
    const account = { ...ACCOUNT, offers: [offer] };
    expect(assignment({ connection: { ...PRESENT, account } })?.request).toEqual({
      name: 'widgets',
      create: {
        resources: offer.resources,
        permissionClaims: [{ resource: 'secrets', selector: { namedResources: [{ name: 'x' }] } }],
        namespaces: [],
        schemaUpdatePolicy: 'Always',
      },
    });
    expect(assignment({})?.request).toEqual({ name: 'widgets' });
  });

  it('names a request without a template after the binding', () => {
    const resources = [{ group: 'g', resource: 'r', versions: ['v1'] }];
    const spec = { connection: 'c', resources };
    expect(assignment({ ...fresh, spec })?.request).toMatchObject({ name: REF.name, create: { resources } });
  });

  it('gives the worker no claim that one side has not accepted, or that kcp does not grant yet', () => {
    const latest = report({ claims: [SECRETS] });
    const claim = (state: string) => ({
      group: '',
      resource: 'secrets',
      verbs: ['get'],
      selector: {},
      state,
    });
    const on = (state: string): Partial<BindingObservation> => ({
      apiBinding: {
        kind: 'found',
        ours: true,
        object: apiBinding({
          spec: { ...(apiBinding()['spec'] as object), permissionClaims: [claim(state)] },
        }),
      },
    });
    const both = { latest, spec: ACCEPTS_SECRETS };
    expect(assignment({ ...both, ...on('Accepted') })?.claims).toEqual([{ group: '', resource: 'secrets' }]);
    expect(assignment({ ...both, ...on('Rejected') })?.claims).toEqual([]);
    expect(
      assignment({ ...both, ...on('Accepted'), claims: claims('apibindings.apis.kcp.io') })?.claims,
    ).toEqual([]);
    expect(assignment({ latest, ...on('Accepted') })?.claims).toEqual([]);
  });

  it('gives up on the provider only when a deletion is forced', () => {
    expect(assignment({ force: true })?.force).toBe(false);
    expect(assignment({ force: true, deleting: true })?.force).toBe(true);
  });
});
