import type { Clock } from '../../kube/clock.js';
import type { BindingAssignment } from '../protocol/assignment.js';
import type { BindingReport, ObjectEvent, ToWorker } from '../protocol/report.js';
import type { WorkerPort } from './worker-port.js';

/** Work on one binding. */
export interface Session {
  /** A newer assignment of the same binding. */
  update(assignment: BindingAssignment): void;
  /** Stops everything at once, wherever it is; resolves when nothing runs any more. Never rejects; idempotent. */
  close(): Promise<void>;
}

/** How a session speaks with the main thread. */
export interface SessionOutput {
  report(report: BindingReport): void;
  event(event: ObjectEvent): void;
}

export interface WorkerSettings {
  readonly port: WorkerPort;
  readonly openSession: (assignment: BindingAssignment, output: SessionOutput) => Session;
  readonly clock: Clock;
  /** Bytes that this thread holds outside of its heap. */
  readonly externalBytes: () => number;
  /** JSON of this thread's metrics. */
  readonly metrics: () => Promise<string>;
  /** Default two seconds. */
  readonly pulseMs?: number;
}

interface Slot {
  session: Session | undefined;
  /** Ends when a former session of the binding is closed; the next waits for it. */
  closing: Promise<void>;
  /** What the next session starts with. */
  next: BindingAssignment | undefined;
}

/**
 * Serves the main thread: one session for each assigned binding, never two of the same at a time, and a pulse.
 * Resolves when the worker was told to stop and every session is closed.
 */
export async function runWorker(settings: WorkerSettings): Promise<void> {
  const { port, clock } = settings;
  const slots = new Map<string, Slot>();
  let cancelPulse: () => void = () => undefined;

  const pulse = async (): Promise<void> => {
    const metrics = await settings.metrics();
    port.post({ type: 'pulse', metrics, externalBytes: settings.externalBytes() });
    cancelPulse = clock.after(settings.pulseMs ?? 2000, () => void pulse());
  };

  const stopped = new Promise<void>((resolve) => {
    port.onMessage((message) => receive(message, resolve));
  });
  port.post({ type: 'ready' });
  void pulse();
  await stopped;
  await Promise.all([...slots.values()].map(close));
  cancelPulse();
  port.close();

  function receive(message: ToWorker, stop: () => void): void {
    switch (message.type) {
      case 'assign':
        assign(message.assignment);
        return;
      case 'release':
        void release(message.key);
        return;
      case 'stop':
        stop();
        return;
    }
  }

  function assign(assignment: BindingAssignment): void {
    const { key } = assignment;
    const slot = slots.get(key);
    if (slot?.session !== undefined) slot.session.update(assignment);
    else if (slot !== undefined) slot.next = assignment;
    else slots.set(key, { session: open(assignment), closing: Promise.resolve(), next: undefined });
  }

  function open(assignment: BindingAssignment): Session {
    let sent: BindingReport['schemas'];
    return settings.openSession(assignment, {
      report: (report) => {
        const { schemas, ...rest } = report;
        if (schemas === undefined || schemas !== sent) port.post({ type: 'report', report });
        else port.post({ type: 'report', report: rest, sameSchemas: true });
        sent = schemas;
      },
      event: (event) => port.post({ type: 'event', event }),
    });
  }

  async function release(key: string): Promise<void> {
    const slot = slots.get(key);
    if (slot !== undefined) {
      await close(slot);
      if (slot.next === undefined) slots.delete(key);
    }
    port.post({ type: 'released', key });
    if (slot?.next !== undefined && slots.get(key) === slot) {
      slot.session = open(slot.next);
      slot.next = undefined;
    }
  }

  async function close(slot: Slot): Promise<void> {
    slot.next = undefined;
    const { session } = slot;
    slot.session = undefined;
    if (session !== undefined) slot.closing = session.close();
    await slot.closing;
  }
}
