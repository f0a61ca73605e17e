import { afterEach, describe, expect, it } from '@jest/globals';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { ManualClock } from '../../kube/testing/manual-clock.js';
import { content } from '../pool/testing/assignments.js';
import type { BindingAssignment } from '../protocol/assignment.js';
import type { BindingReport, FromWorker, ToWorker } from '../protocol/report.js';
import { messagePortAsWorkerPort } from './message-port.js';
import { runWorker, type Session, type SessionOutput } from './run-worker.js';

class FakeSession implements Session {
  readonly output: SessionOutput;
  readonly seen: BindingAssignment[];
  closed = false;
  finish: () => void = () => undefined;
  /** When true, closing waits for `finish`. */
  slow = false;

  constructor(assignment: BindingAssignment, output: SessionOutput) {
    this.seen = [assignment];
    this.output = output;
  }

  update(assignment: BindingAssignment): void {
    this.seen.push(assignment);
  }

  close(): Promise<void> {
    this.closed = true;
    return this.slow ? new Promise((resolve) => (this.finish = resolve)) : Promise.resolve();
  }
}

class Bench {
  readonly clock = new ManualClock();
  readonly sessions: FakeSession[] = [];
  readonly main: MessagePort;
  readonly heard: FromWorker[] = [];
  readonly done: Promise<void>;
  ended = false;

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.main = port1;
    port1.on('message', (message: FromWorker) => this.heard.push(message));
    this.done = runWorker({
      port: messagePortAsWorkerPort(port2),
      clock: this.clock,
      externalBytes: () => 42,
      metrics: () => Promise.resolve('[]'),
      openSession: (assignment, output) => {
        const session = new FakeSession(assignment, output);
        this.sessions.push(session);
        return session;
      },
    }).then(() => {
      this.ended = true;
    });
  }

  /** Posts, and waits until both sides have read what lies in the channel. */
  async say(...messages: ToWorker[]): Promise<void> {
    for (const message of messages) this.main.postMessage(message);
    await this.settle();
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
  }

  assign(key: string, revision: number): ToWorker {
    return { type: 'assign', assignment: { ...content(key), revision } };
  }

  heardOf(type: FromWorker['type']): FromWorker[] {
    return this.heard.filter((message) => message.type === type);
  }
}

let bench: Bench;
afterEach(async () => {
  for (const session of bench.sessions) {
    session.slow = false;
    session.finish();
  }
  await bench.say({ type: 'stop' });
  await bench.done;
  bench.main.close();
});

const report: BindingReport = {
  key: 'a',
  revision: 1,
  conditions: {},
  sync: { objects: 0, pending: 0, failing: 0 },
  drained: false,
  left: false,
  remaining: [],
  namespaces: [],
};

describe('worker', () => {
  it('says that it is ready and gives its pulse', async () => {
    bench = new Bench();
    await bench.settle();
    expect(bench.heard).toEqual([{ type: 'ready' }, { type: 'pulse', metrics: '[]', externalBytes: 42 }]);
    await bench.clock.advance(4000);
    await bench.settle();
    expect(bench.heardOf('pulse')).toHaveLength(3);
  });

  it('opens one session for a binding and hands it newer assignments', async () => {
    bench = new Bench();
    await bench.say(bench.assign('a', 1), bench.assign('b', 2), bench.assign('a', 3));
    expect(bench.sessions.map((session) => session.seen.map(({ revision }) => revision))).toEqual([
      [1, 3],
      [2],
    ]);
  });

  it('passes on what sessions say, and the same schemas only once', async () => {
    bench = new Bench();
    await bench.say(bench.assign('a', 1));
    const schemas = [{ resource: 'cowboys' }] as unknown as BindingReport['schemas'];
    const full = { ...report, ...(schemas && { schemas }) };
    bench.sessions[0]?.output.report(full);
    bench.sessions[0]?.output.report({ ...full, drained: true });
    bench.sessions[0]?.output.report(report);
    await bench.settle();
    expect(bench.heardOf('report')).toEqual([
      { type: 'report', report: full },
      { type: 'report', report: { ...report, drained: true }, sameSchemas: true },
      { type: 'report', report },
    ]);
  });

  it('says released when the session is closed, and not before', async () => {
    bench = new Bench();
    await bench.say(bench.assign('a', 1));
    const [session] = bench.sessions;
    if (session !== undefined) session.slow = true;
    await bench.say({ type: 'release', key: 'a' });
    expect(session?.closed).toBe(true);
    expect(bench.heardOf('released')).toEqual([]);
    session?.finish();
    await bench.settle();
    expect(bench.heardOf('released')).toEqual([{ type: 'released', key: 'a' }]);
  });

  it('never runs two sessions of one binding at a time', async () => {
    bench = new Bench();
    await bench.say(bench.assign('a', 1));
    const [session] = bench.sessions;
    if (session !== undefined) session.slow = true;
    await bench.say({ type: 'release', key: 'a' }, bench.assign('a', 2), bench.assign('a', 3));
    expect(bench.sessions).toHaveLength(1);
    session?.finish();
    await bench.settle();
    expect(bench.sessions).toHaveLength(2);
    expect(bench.sessions[1]?.seen.map(({ revision }) => revision)).toEqual([3]);
  });

  it('answers the release of a binding that it does not have', async () => {
    bench = new Bench();
    await bench.say({ type: 'release', key: 'nobody' });
    expect(bench.heardOf('released')).toEqual([{ type: 'released', key: 'nobody' }]);
  });

  it('ends when all sessions are closed after stop', async () => {
    bench = new Bench();
    await bench.say(bench.assign('a', 1), bench.assign('b', 2));
    for (const session of bench.sessions) session.slow = true;
    await bench.say({ type: 'stop' });
    expect(bench.sessions.map((session) => session.closed)).toEqual([true, true]);
    expect(bench.ended).toBe(false);
    for (const session of bench.sessions) session.finish();
    await bench.settle();
    expect(bench.ended).toBe(true);
    expect(bench.clock.pending).toBe(0);
  });
});
