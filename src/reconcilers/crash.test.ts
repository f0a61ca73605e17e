import { afterEach, describe, expect, it } from '@jest/globals';
import { BINDINGS, CONNECTIONS } from '../api/group.js';
import { STEPS } from './steps.js';
import type { StepName } from './steps.js';
import { ALL_CLAIMS, FakeWorld, WORKSPACE } from './testing/fake-world.js';
import type { Accident, FakeProcess } from './testing/fake-world.js';

/** To die before a write is to die after the one before it. */
const KINDS = ['dies-after', 'conflict', 'lost-answer'] as const;

const open: FakeProcess[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ controllers }) => controllers.close()));
});

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
    ['data', 'identityHash'].includes(key) || key.includes('|events.') ? undefined : value,
  );
  return JSON.parse(text);
}

async function newWorld(): Promise<FakeWorld> {
  const world = new FakeWorld();
  world.kcp.addWorkspace(WORKSPACE, ALL_CLAIMS);
  world.createConnection('c', { backend: { url: 'https://backend.test' } });
  world.login('c');
  world.createBinding('b', { connection: 'c', template: 'widgets' });
  return world;
}

async function bound(): Promise<FakeWorld> {
  const world = await newWorld();
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
    make: newWorld,
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
    make: bound,
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
};

describe.each(Object.entries(SCENARIOS))('an accident during %s', (_name, { make, ask, passes }) => {
  it('leads to the same end, at whatever write it happens', async () => {
    const whole = await undisturbed(make, ask);
    expect([...whole.steps].sort()).toEqual(expect.arrayContaining([...passes].sort()));
    const accidents = Array.from({ length: whole.writes }, (_, index) => index + 1).flatMap((atWrite) =>
      KINDS.map((kind): Accident => ({ atWrite, kind })),
    );
    expect(accidents.length).toBeGreaterThan(10);
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
