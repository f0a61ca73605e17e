import { afterEach, describe, expect, it } from '@jest/globals';
import { BINDINGS, CONNECTIONS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import { UPDATED_ANNOTATION } from '../api/markers.js';
import type { JsonObject } from '../kube/json-value.js';
import { LEAVE_CLAIM } from './binding/consent.js';
import { generatedApiBinding } from './binding/manifests.js';
import { ownerOf } from './binding/owner.js';
import { STEPS } from './steps.js';
import type { StepName } from './steps.js';
import { CLIENT_CLUSTER, HOME } from './testing/fake-kcp.js';
import { ALL_CLAIMS, converted, FakeWorld, widgetSpec, WORKSPACE } from './testing/fake-world.js';
import type { Accident, FakeProcess } from './testing/fake-world.js';

/** To die before a write is to die after the one before it. */
const KINDS = ['dies-after', 'conflict', 'lost-answer'] as const;

const open: FakeProcess[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ controllers }) => controllers.close()));
});

const WITHOUT_BINDING_CLAIM = ALL_CLAIMS.filter((claim) => claim !== 'apibindings');

function start(world: FakeWorld, accident?: Accident): FakeProcess {
  const process = world.start(accident);
  open.push(process);
  return process;
}

/** Runs until the process has done all its work or died; a dead one is followed by another. */
async function runThrough(world: FakeWorld, accident: Accident | undefined): Promise<FakeProcess> {
  const first = start(world, accident);
  await world.run(6_000);
  if (!first.dead) return first;
  await first.controllers.close();
  const second = start(world);
  await world.run(6_000);
  return second;
}

/** Two runs that end the same differ in times, random keys and who wrote last. */
function ending(world: FakeWorld): unknown {
  const text = JSON.stringify(world.kcp.objects.snapshot(), (key, value: unknown) =>
    ['data', 'identityHash', UPDATED_ANNOTATION].includes(key) || key.includes('|events.')
      ? undefined
      : value,
  );
  return JSON.parse(text);
}

async function newWorld(claims: readonly string[] = ALL_CLAIMS): Promise<FakeWorld> {
  const world = new FakeWorld();
  world.kcp.addWorkspace(WORKSPACE, claims);
  world.createConnection('c', { backend: { url: 'https://backend.test' } });
  world.login('c');
  world.createBinding('b', { connection: 'c', template: 'widgets' });
  return world;
}

async function settled(claims: readonly string[] = ALL_CLAIMS): Promise<FakeWorld> {
  const world = await newWorld(claims);
  const process = await runThrough(world, undefined);
  await process.controllers.close();
  return world;
}

/** The user has made the APIBinding that the controller may not make. */
async function boundByUser(): Promise<FakeWorld> {
  const world = await settled(WITHOUT_BINDING_CLAIM);
  const [generated] = world.kcp.objects
    .list(GVR.apiExports, CLIENT_CLUSTER)
    .flatMap((each) => ownerOf(each) ?? []);
  if (generated === undefined) throw new Error('nothing to bind');
  world.kcp.objects.create(GVR.apiBindings, WORKSPACE, generatedApiBinding(generated, HOME, [LEAVE_CLAIM]));
  const process = await runThrough(world, undefined);
  await process.controllers.close();
  return world;
}

/** A world, what is asked of it, and the writes that an undisturbed process needs for that. */
async function undisturbed(make: () => Promise<FakeWorld>, ask: (world: FakeWorld) => void) {
  const world = (await make()).fork();
  ask(world);
  const process = await runThrough(world, undefined);
  return {
    end: ending(world),
    writes: process.writes,
    steps: new Set(process.steps),
    left: world.generatedObjects(),
  };
}

const SCENARIOS: Record<
  string,
  { make: () => Promise<FakeWorld>; ask: (world: FakeWorld) => void; passes: StepName[] }
> = {
  bind: {
    make: () => newWorld(),
    ask: () => undefined,
    passes: [
      'connection.finalizer.add',
      'connection.account.update',
      'connection.status',
      'binding.finalizer.add',
      'binding.worker.assign',
      'binding.identity.create',
      'binding.schema.create',
      'binding.account.create',
      'binding.role.apply',
      'binding.role-binding.apply',
      'binding.export.create',
      'binding.token.request',
      'binding.api-binding.create',
      'binding.status',
    ],
  },
  unbind: {
    make: () => settled(),
    ask: (world) => {
      world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
      world.kcp.objects.delete(CONNECTIONS, WORKSPACE, 'c');
    },
    passes: [
      'binding.worker.assign',
      'binding.api-binding.delete',
      'binding.export.delete',
      'binding.schemas.delete',
      'binding.account.delete',
      'binding.identity.delete',
      'binding.worker.release',
      'binding.finalizer.remove',
      'connection.state.remove',
      'connection.finalizer.remove',
    ],
  },
  'a change of schema': {
    make: () => settled(),
    ask: (world) => {
      world.schemas = [converted(widgetSpec({ color: { type: 'string' } }))];
    },
    passes: ['binding.schema.create', 'binding.export.update', 'binding.schema.remove-old'],
  },
  'a change of consent': {
    make: () => settled(),
    ask: (world) => {
      const secrets = { group: '', resource: 'secrets' };
      world.worker = (assignment) => ({
        ...world.goodWorker(assignment),
        claims: [{ ...secrets, selector: 'all' }],
      });
      world.kcp.objects.edit(BINDINGS, WORKSPACE, 'b', (binding) => ({
        ...binding,
        spec: {
          ...(binding['spec'] as JsonObject),
          permissionClaims: [{ ...secrets, state: 'Accepted' }],
        },
      }));
    },
    passes: ['binding.export.update', 'binding.api-binding.update'],
  },
  'bind where users bind': {
    make: () => newWorld(WITHOUT_BINDING_CLAIM),
    ask: () => undefined,
    passes: ['binding.bind-role.apply', 'binding.export.create'],
  },
  'a change to binding by the controller': {
    make: boundByUser,
    ask: (world) => world.kcp.accept(WORKSPACE, ALL_CLAIMS),
    passes: ['binding.bind-role.remove', 'binding.export.update'],
  },
};

describe.each(Object.entries(SCENARIOS))('an accident during %s', (_name, { make, ask, passes }) => {
  it('leads to the same end, at whatever write it happens', async () => {
    const whole = await undisturbed(make, ask);
    expect([...whole.steps].sort()).toEqual(expect.arrayContaining([...passes].sort()));
    const accidents = Array.from({ length: whole.writes }, (_, index) => index + 1).flatMap((atWrite) =>
      KINDS.map((kind): Accident => ({ atWrite, kind })),
    );
    expect(accidents.length).toBeGreaterThan(KINDS.length);
    const before = await make();
    for (const accident of accidents) {
      const world = before.fork();
      ask(world);
      await runThrough(world, accident);
      expect({ accident, end: ending(world) }).toEqual({ accident, end: whole.end });
      await Promise.all(open.splice(0).map(({ controllers }) => controllers.close()));
    }
  }, 60_000);
});

describe('caches that lag behind', () => {
  it.each([50, 700, 3_000])('by %d ms lead to the same end', async (lagMs) => {
    for (const { make, ask } of Object.values(SCENARIOS)) {
      const whole = await undisturbed(make, ask);
      const world = await make();
      world.kcp.later = (deliver) => void world.clock.after(lagMs, deliver);
      ask(world);
      start(world);
      await world.run(60_000);
      expect(ending(world)).toEqual(whole.end);
      await Promise.all(open.splice(0).map(({ controllers }) => controllers.close()));
    }
  });
});

describe('the table of steps', () => {
  it('says of each step where it writes', () => {
    for (const { where, writes } of Object.values(STEPS)) {
      expect(['consumer workspace', 'client workspace', 'worker']).toContain(where);
      expect(writes).not.toBe('');
    }
  });
});
