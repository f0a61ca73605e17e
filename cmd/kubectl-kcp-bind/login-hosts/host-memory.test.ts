import { mkdtemp, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createSystemClock } from '../../../src/kube/system-clock.js';
import { createHostMemory, hostMemoryFile, type HostMemory } from './host-memory.js';

let folder: string;
let file: string;
let runs = 0;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kpb-hosts-'));
  file = hostMemoryFile({ variables: { XDG_STATE_HOME: folder }, home: '/nonexistent' });
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

function memory(): HostMemory {
  runs += 1;
  return createHostMemory(file, createSystemClock(), `run-${runs}`);
}

describe('the memory of login hosts', () => {
  it('keeps a host for each client export, for nobody else to read', async () => {
    await memory().remember('kcp root:a:x', 'one.example.com');
    await memory().remember('kcp root:b:x', 'two.example.com');
    expect(await memory().recall('kcp root:a:x')).toBe('one.example.com');
    expect(await memory().recall('kcp root:b:x')).toBe('two.example.com');
    expect(await memory().recall('kcp root:c:x')).toBeUndefined();
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  it('loses nothing when many runs write at once, and is whole at any moment', async () => {
    const names = Array.from({ length: 8 }, (_, index) => `export-${index}`);
    const writing = Promise.all(names.map((name) => memory().remember(name, `${name}.example.com`)));
    const state = { done: false };
    void writing.then(() => (state.done = true));
    while (!state.done) {
      const text = await readFile(file, 'utf8').catch(() => '{}');
      expect(() => JSON.parse(text) as unknown).not.toThrow();
    }
    expect(await writing).toEqual(names.map(() => true));
    expect(Object.keys(JSON.parse(await readFile(file, 'utf8')) as object).sort()).toEqual(names);
  });

  it('forgets the oldest of too many', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`old-${index}`, 'a.example.com']),
    );
    await memory().remember('old-0', 'x');
    await writeFile(file, JSON.stringify(many));
    await memory().remember('new', 'b.example.com');
    expect(await memory().recall('old-0')).toBeUndefined();
    expect(await memory().recall('old-1')).toBe('a.example.com');
    expect(await memory().recall('new')).toBe('b.example.com');
  });

  it('takes over the lock of a run that was killed', async () => {
    await memory().remember('a', 'one.example.com');
    await writeFile(`${file}.lock`, '');
    await utimes(`${file}.lock`, 1, 1);
    expect(await memory().remember('b', 'two.example.com')).toBe(true);
  });

  it.each(['', '[]', 'null', '{"a": 7}', 'no json'])('takes %j for an empty one', async (text) => {
    await memory().remember('b', 'x');
    await writeFile(file, text);
    expect(await memory().recall('a')).toBeUndefined();
    expect(await memory().remember('a', 'one.example.com')).toBe(true);
    expect(await memory().recall('a')).toBe('one.example.com');
  });

  it('is no reason not to log in where it cannot be written', async () => {
    await writeFile(join(folder, 'in-the-way'), '');
    const inTheWay = join(folder, 'in-the-way', 'hosts.json');
    const nowhere = createHostMemory(inTheWay, createSystemClock(), 'x');
    expect(await nowhere.remember('a', 'one.example.com')).toBe(false);
    expect(await nowhere.recall('a')).toBeUndefined();
  });
});
