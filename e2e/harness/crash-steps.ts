import type { StepName } from '../../src/reconcilers/steps.js';

/** Effects of a worker on the provider and on objects, which have no name in the reconcilers' table. */
export const WORKER_STEPS = [
  'worker.export-request.create',
  'worker.service-namespace.create',
  'worker.heartbeat',
  'worker.object.finalizer.add',
  'worker.copy.create',
  'worker.object.status',
  'worker.copy.delete',
  'worker.object.finalizer.remove',
  'worker.service-namespace.delete',
  'worker.export-request.delete',
] as const;

export type CrashStep = StepName | (typeof WORKER_STEPS)[number];

/** An act of a crash test: the steps that it takes, and around each of which the controller is killed. */
export type Acts = Readonly<Record<string, readonly CrashStep[]>>;

/** The acts of crash.test.ts: a binding by login, from its first finalizer to the last. */
export const LOGIN_LIFE = {
  'binds by a login': [
    'connection.finalizer.add',
    'connection.login.start',
    'connection.status',
    'binding.finalizer.add',
    'binding.identity.create',
    'binding.schema.create',
    'binding.account.create',
    'binding.role.apply',
    'binding.role-binding.apply',
    'binding.export.create',
    'binding.token.request',
    'binding.api-binding.create',
    'binding.status',
    'worker.export-request.create',
    'worker.service-namespace.create',
    'worker.heartbeat',
    'worker.object.finalizer.add',
    'worker.copy.create',
    'worker.object.status',
  ],
  unbinds: [
    'worker.copy.delete',
    'worker.object.finalizer.remove',
    'binding.api-binding.delete',
    'binding.export.delete',
    'binding.schemas.delete',
    'binding.account.delete',
    'binding.identity.delete',
    'worker.service-namespace.delete',
    'worker.export-request.delete',
    'binding.finalizer.remove',
    'connection.state.remove',
    'connection.finalizer.remove',
  ],
} as const satisfies Acts;

/** The acts of crash-changes.test.ts: a binding whose credentials, mode, consent and schema change. */
export const CHANGES = {
  'takes a kubeconfig': ['connection.account.store'],
  'binds where it may not bind': [
    'binding.worker.assign',
    'connection.account.update',
    'binding.bind-role.apply',
  ],
  'may bind from now on': ['binding.bind-role.remove'],
  'gets a claim': ['binding.export.update', 'binding.api-binding.update'],
  'loses a claim': ['binding.api-binding.update'],
  'gets another schema': ['binding.export.update', 'binding.schema.remove-old'],
  'gets other credentials': ['connection.account.store'],
  unbinds: ['binding.worker.release'],
} as const satisfies Acts;

/** All steps of some acts, each once, sorted. */
export function stepsOf(...lives: readonly Acts[]): CrashStep[] {
  const steps = lives.flatMap((acts) => Object.values(acts).flat());
  return [...new Set(steps)].sort();
}
