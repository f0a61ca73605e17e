/** What a named step writes, and where: for people who read a crash test's report, and for the documents. */
export interface StepDescription {
  readonly where: 'consumer workspace' | 'client workspace' | 'worker';
  readonly writes: string;
}

/**
 * Every effect of the reconcilers, by name. Each one is safe to repeat, and the world between any two of
 * them is one from which the next run finds its way: a crash test kills the process before and after each.
 */
export const STEPS = {
  'connection.finalizer.add': {
    where: 'consumer workspace',
    writes: 'our finalizer on the KubeBindConnection, before anything else is made for it',
  },
  'connection.login.start': {
    where: 'client workspace',
    writes: 'the hash of a single-use login id into the connection state; its URL goes into status',
  },
  'connection.account.store': {
    where: 'client workspace',
    writes: 'the sanitized kubeconfig of the Secret that spec.kubeconfigSecretRef names',
  },
  'connection.account.update': {
    where: 'client workspace',
    writes: 'the UID of the contract namespace, or credentials that the provider rotated',
  },
  'connection.status': { where: 'consumer workspace', writes: 'status of the KubeBindConnection' },
  'connection.state.remove': {
    where: 'client workspace',
    writes: 'removes the connection state, with the account in it',
  },
  'connection.finalizer.remove': {
    where: 'consumer workspace',
    writes: 'takes our finalizer off the KubeBindConnection, last of all',
  },
  'binding.finalizer.add': {
    where: 'consumer workspace',
    writes: 'our finalizer on the KubeBindBinding, before anything else is made for it',
  },
  'binding.worker.assign': {
    where: 'worker',
    writes: 'the stage of the binding, credentials and consent, handed to its worker',
  },
  'binding.identity.create': {
    where: 'client workspace',
    writes: "the Secret with the generated export's identity; never made again while an export has used it",
  },
  'binding.schema.create': {
    where: 'client workspace',
    writes: 'one APIResourceSchema, named after its content',
  },
  'binding.account.create': {
    where: 'client workspace',
    writes: 'the ServiceAccount that reads the virtual workspace of the generated export',
  },
  'binding.role.apply': { where: 'client workspace', writes: 'the ClusterRole of that account' },
  'binding.role-binding.apply': {
    where: 'client workspace',
    writes: 'the ClusterRoleBinding of that account',
  },
  'binding.export.create': {
    where: 'client workspace',
    writes: 'the generated APIExport, with the hash of what it was made from',
  },
  'binding.export.update': {
    where: 'client workspace',
    writes: 'other schemas or claims of the generated APIExport',
  },
  'binding.bind-role.apply': {
    where: 'client workspace',
    writes: 'ClusterRole and ClusterRoleBinding that let users bind the generated export themselves',
  },
  'binding.bind-role.remove': {
    where: 'client workspace',
    writes: 'removes that role and role binding when the controller binds by itself',
  },
  'binding.token.request': {
    where: 'client workspace',
    writes: 'a short-lived token of the ServiceAccount, kept in memory',
  },
  'binding.api-binding.create': {
    where: 'consumer workspace',
    writes: 'the APIBinding to the generated export, with the claims that were accepted',
  },
  'binding.api-binding.update': {
    where: 'consumer workspace',
    writes: 'the accepted claims of our APIBinding',
  },
  'binding.schema.remove-old': {
    where: 'client workspace',
    writes: 'removes an APIResourceSchema that neither export nor APIBinding names any more',
  },
  'binding.status': { where: 'consumer workspace', writes: 'status of the KubeBindBinding' },
  'binding.api-binding.delete': {
    where: 'consumer workspace',
    writes: 'deletes our APIBinding, after the worker has drained',
  },
  'binding.export.delete': { where: 'client workspace', writes: 'deletes the generated APIExport' },
  'binding.schemas.delete': { where: 'client workspace', writes: 'deletes its APIResourceSchemas' },
  'binding.account.delete': {
    where: 'client workspace',
    writes: 'deletes its roles, role bindings and ServiceAccount',
  },
  'binding.identity.delete': { where: 'client workspace', writes: 'deletes its identity Secret' },
  'binding.worker.release': { where: 'worker', writes: 'the worker lets go of the binding' },
  'binding.finalizer.remove': {
    where: 'consumer workspace',
    writes: 'takes our finalizer off the KubeBindBinding, last of all',
  },
} as const satisfies Record<string, StepDescription>;

export type StepName = keyof typeof STEPS;

/** Called around each step; a crash test ends the process in it. */
export type StepHook = (step: StepName, moment: 'before' | 'after', key: string) => void | Promise<void>;

/** Runs an effect under its name. */
export type StepRunner = <T>(step: StepName, key: string, effect: () => Promise<T>) => Promise<T>;

/** @param hook called before and after each effect; absent in production unless a test flag sets it */
export function createStepRunner(hook?: StepHook): StepRunner {
  if (hook === undefined) return (_step, _key, effect) => effect();
  return async (step, key, effect) => {
    await hook(step, 'before', key);
    const result = await effect();
    await hook(step, 'after', key);
    return result;
  };
}
