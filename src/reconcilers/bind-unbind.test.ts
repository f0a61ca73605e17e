import { afterEach, describe, expect, it } from '@jest/globals';
import { BINDINGS, CONNECTIONS } from '../api/group.js';
import { GVR } from '../api/gvr.js';
import { objectsAt, textAt } from './views.js';
import { ALL_CLAIMS, FakeWorld, WORKSPACE } from './testing/fake-world.js';
import type { FakeProcess } from './testing/fake-world.js';

const BACKEND = { backend: { url: 'https://backend.test' } };
const open: FakeProcess[] = [];

function start(world: FakeWorld): FakeProcess {
  const process = world.start();
  open.push(process);
  return process;
}

afterEach(async () => {
  await Promise.all(open.splice(0).map(({ controllers }) => controllers.close()));
});

function condition(object: Parameters<typeof objectsAt>[0], type: string) {
  return objectsAt(object, 'status', 'conditions').find((each) => each['type'] === type);
}

async function boundWorld(): Promise<FakeWorld> {
  const world = new FakeWorld();
  world.kcp.addWorkspace(WORKSPACE, ALL_CLAIMS);
  world.createConnection('c', BACKEND);
  return world;
}

describe('binding an API', () => {
  it('awaits a login, then serves the API and says Ready', async () => {
    const world = await boundWorld();
    start(world);
    await world.run();
    expect(textAt(world.connection('c'), 'status', 'phase')).toBe('AwaitingLogin');
    expect(textAt(world.connection('c'), 'status', 'authentication', 'url')).toMatch(
      /^https:\/\/login.test\/login\//,
    );
    world.login('c');
    world.createBinding('b', { connection: 'c', template: 'widgets' });
    await world.run();
    expect(textAt(world.connection('c'), 'status', 'phase')).toBe('Connected');
    expect(textAt(world.binding('b'), 'status', 'phase')).toBe('Ready');
    expect(condition(world.binding('b'), 'Ready')?.['status']).toBe('True');
    world.kcp.objects.delete(BINDINGS, WORKSPACE, 'b');
    await world.run();
    expect(world.binding('b')).toBeUndefined();
    expect(world.generatedObjects()).toEqual([]);
    expect(world.kcp.objects.list(GVR.apiBindings, WORKSPACE).map(({ metadata }) => metadata.name)).toEqual([
      'kube-bind',
    ]);
    world.kcp.objects.delete(CONNECTIONS, WORKSPACE, 'c');
    await world.run();
    expect(world.connection('c')).toBeUndefined();
    expect(world.disk.states.size).toBe(0);
  });
});
