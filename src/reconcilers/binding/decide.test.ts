import { describe, expect, it } from '@jest/globals';
import type { BindingConditionType } from '../../api/conditions.js';
import { BINDING_REASONS } from '../../api/conditions.js';
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

const TABLE: [string, Partial<BindingObservation>, BindingConditionType, string, string, string][] = [
  ['everything well', {}, 'Ready', 'True', 'Ready', 'Ready'],
  ['a served API', {}, 'APIBound', 'True', 'Bound', 'Ready'],
  ['a schema in sync', {}, 'SchemaInSync', 'True', 'InSync', 'Ready'],
  [
    'no connection',
    { ...fresh, connection: { kind: 'missing' } },
    'Connected',
    'False',
    'ConnectionNotFound',
    'Pending',
  ],
  [
    'no account',
    { ...fresh, connection: { ...PRESENT, account: undefined } },
    'Connected',
    'False',
    'ConnectionNotReady',
    'Pending',
  ],
  [
    'a connection that goes',
    { connection: { ...PRESENT, deleting: true } },
    'Connected',
    'False',
    'ConnectionDeleting',
    'Degraded',
  ],
  [
    'another contract namespace',
    { connection: { ...PRESENT, account: { ...ACCOUNT, contractNamespaceUid: 'other' } } },
    'Connected',
    'False',
    'ProviderChanged',
    'Degraded',
  ],
  [
    'a worker that is still silent',
    { latest: undefined, fresh: undefined },
    'Connected',
    'Unknown',
    'ProviderUnreachable',
    'Binding',
  ],
  [
    'refused credentials',
    said('Connected', 'Unauthorized'),
    'Connected',
    'False',
    'Unauthorized',
    'Degraded',
  ],
  ['no claims', {}, 'PermissionClaimsAccepted', 'True', 'NoClaims', 'Ready'],
  [
    'claims not known',
    { latest: undefined, fresh: undefined },
    'PermissionClaimsAccepted',
    'Unknown',
    'Unknown',
    'Binding',
  ],
  [
    'claims that nobody accepted',
    { latest: report({ claims: [SECRETS] }) },
    'PermissionClaimsAccepted',
    'False',
    'NotAccepted',
    'Ready',
  ],
  [
    'claims accepted on both sides',
    { latest: report({ claims: [SECRETS] }), spec: ACCEPTS_SECRETS },
    'PermissionClaimsAccepted',
    'True',
    'Accepted',
    'Ready',
  ],
  [
    'claims that only the binding accepts',
    {
      latest: report({ claims: [SECRETS] }),
      spec: ACCEPTS_SECRETS,
      claims: claims('apibindings.apis.kcp.io'),
    },
    'PermissionClaimsAccepted',
    'False',
    'NotAccepted',
    'Ready',
  ],
  ['no export yet', fresh, 'ExportReady', 'Unknown', 'Pending', 'Binding'],
  [
    'a template that the connection does not offer',
    { ...said('ExportReady', 'ExportNotFound'), ...unbound, generated: undefined, schemas: undefined },
    'ExportReady',
    'False',
    'TemplateNotFound',
    'Binding',
  ],
  ['no schema yet', fresh, 'SchemaInSync', 'Unknown', 'Pending', 'Binding'],
  [
    'a schema that the worker cannot convert',
    { ...said('SchemaInSync', 'Unsupported'), schemas: undefined },
    'SchemaInSync',
    'False',
    'Unsupported',
    'Degraded',
  ],
  [
    'a schema that kcp refuses',
    { schemaRefusal: 'spec.x: bad' },
    'SchemaInSync',
    'False',
    'Rejected',
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
  ['an API that is being bound', unbound, 'APIBound', 'Unknown', 'Pending', 'Binding'],
  [
    'no claim on apibindings',
    { ...unbound, claims: claims('secrets.') },
    'APIBound',
    'False',
    'ClaimMissing',
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
    'APIBound',
    'False',
    'NameConflict',
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
    'APIBound',
    'False',
    'NameConflict',
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
    'APIBound',
    'False',
    'NotServed',
    'Binding',
  ],
  [
    'bound, not served',
    { access: { kind: 'not-served', message: '404' } },
    'APIBound',
    'False',
    'NotServed',
    'Binding',
  ],
  [
    'an APIBinding of our name to elsewhere',
    { ...unbound, apiBinding: { kind: 'name-taken', refersTo: 'root:x:y' } },
    'APIBound',
    'False',
    'ForeignAPIBinding',
    'Binding',
  ],
  [
    'two APIBindings',
    { ...unbound, apiBinding: { kind: 'several', names: ['a', 'b'], ours: undefined } },
    'APIBound',
    'False',
    'ForeignAPIBinding',
    'Binding',
  ],
  ['a dying workspace', { workspaceDying: true }, 'APIBound', 'False', 'WorkspaceDeleting', 'Binding'],
  [
    'an APIBinding that cannot be seen',
    { ...unbound, apiBinding: { kind: 'unknown', message: 'm' } },
    'APIBound',
    'Unknown',
    'Pending',
    'Binding',
  ],
  ['no worker yet', fresh, 'Syncing', 'Unknown', 'Pending', 'Binding'],
  ['a dead worker', said('Syncing', 'WorkerFailed'), 'Syncing', 'False', 'WorkerFailed', 'Degraded'],
  [
    'a paused binding',
    { ...said('Syncing', 'Paused'), spec: { ...bindingObservation().spec, paused: true } },
    'Ready',
    'False',
    'Paused',
    'Paused',
  ],
  ['anything amiss', said('Syncing', 'ObjectsFailing'), 'Ready', 'False', 'NotReady', 'Degraded'],
  ['a deletion', { deleting: true }, 'Ready', 'False', 'Deleting', 'Deleting'],
  [
    'a deletion, while the worker drains',
    { deleting: true, fresh: undefined },
    'Syncing',
    'False',
    'Draining',
    'Deleting',
  ],
  [
    'a deletion without credentials',
    { deleting: true, connection: { kind: 'missing' } },
    'Syncing',
    'False',
    'WaitingForProvider',
    'Deleting',
  ],
  [
    'a deletion whose objects cannot be reached',
    { deleting: true, access: { kind: 'not-served', message: 'm' } },
    'Syncing',
    'False',
    'ConsumerUnreachable',
    'Deleting',
  ],
  [
    'a deletion that an APIBinding of somebody else holds up',
    {
      deleting: true,
      progress: { drained: true, cleaned: false },
      apiBinding: { kind: 'found', object: apiBinding(), ours: false },
    },
    'APIBound',
    'False',
    'ForeignAPIBinding',
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
    'Syncing',
    'False',
    'Released',
    'Deleting',
  ],
];

/** Reasons that only workers give; they are passed on. */
const OF_WORKERS: readonly string[] = [
  'Connected/ForeignKonnector',
  ...BINDING_REASONS.ExportReady.map((reason) => `ExportReady/${reason}`),
  'SchemaInSync/TooLarge',
  'Syncing/Syncing',
  ...BINDING_REASONS.Syncing.map((reason) => `Syncing/${reason}`),
];

describe('conditions of a binding', () => {
  it.each(TABLE)('with %s', (_title, ...row) => {
    const [change, type, status, reason, phase] = row;
    const plan = decideBinding(bindingObservation(change));
    const state = plan.status?.conditions.find(([each]) => each === type)?.[1];
    expect(state).toMatchObject({ status, reason });
    expect(plan.status?.phase).toBe(phase);
    if (status === 'False') expect(state?.message).not.toBe('');
  });

  it('gives every reason of the closed list that is not the workers’ own, and no other', () => {
    const given = new Set(
      TABLE.flatMap(([, change]) =>
        (decideBinding(bindingObservation(change)).status?.conditions ?? []).map(
          ([type, { reason }]) => `${type}/${reason}`,
        ),
      ),
    );
    const closed = Object.entries(BINDING_REASONS).flatMap(([type, reasons]) =>
      reasons.map((reason) => `${type}/${reason}`),
    );
    expect(closed.filter((each) => !given.has(each) && !OF_WORKERS.includes(each))).toEqual([]);
    expect([...given].filter((each) => !closed.includes(each))).toEqual([]);
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
      'does not ask again for a schema that kcp refused',
      { schemaRefusal: 'no', missing: ALL_MISSING },
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
