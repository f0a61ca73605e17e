import type { ConditionState } from '../../api/conditions.js';
import { detail, no, unknown } from '../conditions.js';
import { isDeleting, textAt } from '../views.js';
import { assignmentOf, isOtherAccount } from './assignment.js';
import { consentOf } from './consent-of.js';
import { connectedCondition } from './connected.js';
import { POLL_MS, SLOW_POLL_MS } from './plan.js';
import type { BindingPlan, BindingStep } from './plan.js';
import { grantedClaims, provisionSteps } from './provision.js';
import type { ApiBindingView, BindingConditions, BindingObservation } from './observation.js';

const FORCE = 'To let go without the provider, set annotation kcp.kube-bind.io/force-release: "true".';

/** What stays where nobody could look. */
export const UNSEEN_COPIES =
  'all copies, and what was made for them (the provider was not asked, or not with the account that made them)';

/** A plan and, where something holds it up, what. */
interface Release {
  readonly steps: readonly BindingStep[];
  readonly syncing: ConditionState;
  /** Said in place of what the binding's own state would say. */
  readonly apiBound?: ConditionState;
  readonly lookAgainMs?: number;
}

/**
 * Takes a binding apart, in the one order that leaves a way back at every point: objects, APIBinding (and
 * wait), export, schemas, account, identity, what is on the provider, finalizer.
 */
export function decideRelease(observed: BindingObservation): BindingPlan {
  if (observed.exists && !observed.hasFinalizer) return { steps: [] };
  const release = nextRelease(observed);
  const plan = {
    steps: release.steps,
    ...(release.lookAgainMs === undefined ? {} : { lookAgainMs: release.lookAgainMs }),
  };
  return observed.exists
    ? { ...plan, status: { phase: 'Deleting', conditions: conditionsOf(observed, release) } }
    : plan;
}

function nextRelease(observed: BindingObservation): Release {
  if (!observed.progress.drained && !isUntouched(observed)) return drain(observed);
  if (!observed.progress.cleaned) {
    const waiting = removeApiBinding(observed);
    if (waiting !== undefined) return waiting;
    return {
      steps: [
        { name: 'binding.export.delete' },
        { name: 'binding.schemas.delete' },
        { name: 'binding.account.delete' },
        { name: 'binding.identity.delete' },
      ],
      syncing: no('Draining', 'The generated export is being removed.'),
    };
  }
  return leave(observed);
}

/** Nothing was ever made or asked for that would have to be taken back. */
function isUntouched(observed: BindingObservation): boolean {
  const { connection, generated, apiBinding, latest } = observed;
  const hasAccount = connection.kind === 'present' && connection.account !== undefined;
  const asked = observed.exists && latest !== undefined;
  return !hasAccount && generated === undefined && !asked && apiBinding.kind === 'none';
}

function drain(observed: BindingObservation): Release {
  const { apiBinding, connection, access } = observed;
  if (apiBinding.kind === 'unknown') {
    return {
      steps: [],
      syncing: unknown('ConsumerUnreachable', apiBinding.message),
      lookAgainMs: SLOW_POLL_MS,
    };
  }
  const account = connection.kind === 'present' ? connection.account : undefined;
  const other = account !== undefined && isOtherAccount(observed, account);
  if ((account === undefined || other) && !observed.force) {
    return {
      steps: [],
      syncing: no('WaitingForProvider', `${connectedCondition(observed).message} ${FORCE}`),
    };
  }
  if (mayHoldObjects(apiBinding) && access.kind !== 'served') return waitForConsumer(observed);
  const claims = grantedClaims(observed, consentOf(observed));
  const assignment = assignmentOf(observed, 'drain', { account: other ? undefined : account, claims });
  return {
    steps: [{ name: 'binding.worker.assign', assignment }],
    syncing: workerWord(observed, 'The objects are being released.'),
  };
}

/** An API that was bound once may hold objects with our finalizer. */
function mayHoldObjects(apiBinding: ApiBindingView): boolean {
  if (apiBinding.kind === 'several') return true;
  return apiBinding.kind === 'found' && textAt(apiBinding.object, 'status', 'phase') === 'Bound';
}

/**
 * An export that is missing, or that somebody made serve something else, comes back first, with its identity; nothing
 * is deleted meanwhile.
 */
function waitForConsumer(observed: BindingObservation): Release {
  const { access } = observed;
  const why = access.kind === 'not-served' ? access.message : 'the generated APIExport is missing';
  return {
    // Parts are looked for only where something is to be mended.
    steps: observed.missing === undefined ? [] : provisionSteps(observed, consentOf(observed)),
    syncing: no(
      'ConsumerUnreachable',
      `The workspace's objects cannot be reached: ${detail(why)}. It is tried again; nothing is deleted meanwhile.`,
    ),
    lookAgainMs: POLL_MS,
  };
}

/** The worker's own word about what holds it up. */
function workerWord(observed: BindingObservation, otherwise: string): ConditionState {
  const said = observed.fresh?.conditions.Syncing;
  if (said !== undefined && said.status !== 'True') {
    const hint =
      said.reason === 'WaitingForProvider' || said.reason === 'ProviderUnreachable' ? ` ${FORCE}` : '';
    return { ...said, message: `${said.message}${observed.force ? '' : hint}` };
  }
  return no('Draining', otherwise);
}

function removeApiBinding(observed: BindingObservation): Release | undefined {
  const { apiBinding } = observed;
  const syncing = no('Draining', 'The objects are released; the API is being unbound.');
  switch (apiBinding.kind) {
    case 'none':
    case 'name-taken':
      return undefined;
    case 'unknown':
      return { steps: [], syncing, apiBound: unknown('Pending', apiBinding.message), lookAgainMs: POLL_MS };
    case 'found':
    case 'several': {
      const ours =
        apiBinding.kind === 'several' ? apiBinding.ours : apiBinding.ours ? apiBinding.object : undefined;
      const uid = ours?.metadata.uid;
      if (ours === undefined || uid === undefined) {
        const names = apiBinding.kind === 'found' ? [apiBinding.object.metadata.name] : apiBinding.names;
        const apiBound = no(
          'ForeignAPIBinding',
          `APIBinding ${names.slice(0, 10).join(', ')} refers to the generated export and was not made by the controller; delete it.`,
        );
        return { steps: [], syncing, apiBound, lookAgainMs: SLOW_POLL_MS };
      }
      return {
        steps: isDeleting(ours) ? [] : [{ name: 'binding.api-binding.delete', uid }],
        syncing,
        apiBound: unknown('Pending', `APIBinding ${ours.metadata.name} is being deleted.`),
        lookAgainMs: POLL_MS,
      };
    }
  }
}

/** On the provider, last: what our account may remove there. */
function leave(observed: BindingObservation): Release {
  const { connection, progress } = observed;
  if (progress.left !== undefined) return letGo(observed, progress.left);
  const account = connection.kind === 'present' ? connection.account : undefined;
  const unreachable = account === undefined || isOtherAccount(observed, account);
  if (unreachable || (observed.force && observed.namespacesInUse === undefined)) {
    return letGo(observed, progress.drained ? [UNSEEN_COPIES] : []);
  }
  if (observed.namespacesInUse === undefined) {
    return {
      steps: [],
      syncing: no(
        'WaitingForProvider',
        `Other bindings of the same provider have not said yet which of its namespaces they use. After a minute it goes on, and leaves all of them. ${FORCE}`,
      ),
      lookAgainMs: POLL_MS,
    };
  }
  return {
    steps: [
      { name: 'binding.worker.assign', assignment: assignmentOf(observed, 'leave', { account, claims: [] }) },
    ],
    syncing: workerWord(observed, 'What is ours on the provider is being removed.'),
  };
}

function letGo(observed: BindingObservation, remaining: readonly string[]): Release {
  const steps: BindingStep[] = [{ name: 'binding.worker.release', remaining }];
  if (observed.exists) steps.push({ name: 'binding.finalizer.remove' });
  const stays =
    remaining.length === 0
      ? 'Nothing that we may remove is left.'
      : `On the provider stays: ${remaining.slice(0, 100).join(', ')}.`;
  return { steps, syncing: no('Released', stays) };
}

function conditionsOf(observed: BindingObservation, release: Release): BindingConditions {
  const connected = connectedCondition(observed);
  const held = release.apiBound?.status === 'False' ? release.apiBound : release.syncing;
  return [
    ['Connected', connected],
    ...(release.apiBound === undefined ? [] : ([['APIBound', release.apiBound]] as const)),
    ['Syncing', release.syncing],
    ['Ready', no('Deleting', held.message)],
  ];
}
