import type { ConditionState } from '../../api/conditions.js';
import type { Account } from '../../state/records.js';
import { no, unknown, yes } from '../conditions.js';
import { groupResourceKey, groupResourceText } from '../claims.js';
import { apiBoundCondition, mayBind } from './api-bound.js';
import { assignmentOf, isOtherAccount } from './assignment.js';
import { connectedCondition } from './connected.js';
import { consentOf } from './consent-of.js';
import type { Consent } from './consent.js';
import { exportReadyCondition } from './export-ready.js';
import type { BindingConditions, BindingObservation } from './observation.js';
import { decideRelease } from './release.js';
import { apiBindingSteps, grantedClaims, provisionSteps } from './provision.js';
import { POLL_MS, SLOW_POLL_MS } from './plan.js';
import { isUnfollowed, schemaCondition } from './schema-condition.js';
import type { BindingPhase, BindingPlan, BindingStep } from './plan.js';

/** What is to be done next for a binding, and what its status says meanwhile. */
export function decideBinding(observed: BindingObservation): BindingPlan {
  if (observed.deleting) return decideRelease(observed);
  if (!observed.hasFinalizer) {
    return observed.workspaceDying ? { steps: [] } : { steps: [{ name: 'binding.finalizer.add' }] };
  }
  const consent = consentOf(observed);
  const account = usableAccount(observed);
  const conditions = bindingConditions(observed, consent);
  return {
    steps: [
      ...workSteps(observed, account, consent),
      ...(observed.workspaceDying ? [] : provisionSteps(observed, consent)),
      ...(observed.workspaceDying ? [] : apiBindingSteps(observed, consent)),
    ],
    status: { phase: phaseOf(observed, conditions), conditions },
    ...lookAgain(observed, conditions),
  };
}

/** What becomes of these nothing tells, where the APIBinding cannot be watched. */
const UNSETTLED = ['Pending', 'Rejected'];

/** Nothing tells when kcp begins to serve, or when an APIBinding goes that cannot be seen by everybody. */
function lookAgain(
  { apiBinding, access, schemas }: BindingObservation,
  conditions: BindingConditions,
): { readonly lookAgainMs?: number } {
  if (apiBinding.kind === 'found' && access.kind !== 'served') return { lookAgainMs: POLL_MS };
  const [, schema] = conditions.find(([type]) => type === 'SchemaInSync') ?? [];
  const unsettled = schemas !== undefined && schema !== undefined && UNSETTLED.includes(schema.reason);
  const told = apiBinding.kind === 'found' || apiBinding.kind === 'none';
  return told && !unsettled ? {} : { lookAgainMs: SLOW_POLL_MS };
}

/** A worker that runs while there is no account to work with is told so: what it has is another one's, or nobody's. */
function workSteps(
  observed: BindingObservation,
  account: Account | undefined,
  consent: Consent,
): readonly BindingStep[] {
  if (account !== undefined) return [assignStep(observed, account, consent)];
  if (!observed.working) return [];
  const assignment = assignmentOf(observed, 'prepare', { account, claims: [] });
  return [{ name: 'binding.worker.assign', assignment }];
}

function assignStep(observed: BindingObservation, account: Account, consent: Consent): BindingStep {
  const stage = observed.access.kind === 'served' ? 'sync' : 'prepare';
  return {
    name: 'binding.worker.assign',
    assignment: assignmentOf(observed, stage, { account, claims: grantedClaims(observed, consent) }),
  };
}

/** The account to work with; undefined where it leads to another contract namespace than the copies are in. */
function usableAccount(observed: BindingObservation): Account | undefined {
  const account = observed.connection.kind === 'present' ? observed.connection.account : undefined;
  return account === undefined || isOtherAccount(observed, account) ? undefined : account;
}

/** All conditions of a binding that lives, in the order in which they come true. */
function bindingConditions(observed: BindingObservation, consent: Consent): BindingConditions {
  const base: BindingConditions = [
    ['Connected', connectedCondition(observed)],
    ['PermissionClaimsAccepted', claimsCondition(observed, consent)],
    ['ExportReady', exportReadyCondition(observed)],
    ['SchemaInSync', schemaCondition(observed)],
    ['APIBound', apiBoundCondition(observed, consent.exportClaims)],
    ['Syncing', syncingCondition(observed)],
  ];
  return [...base, ['Ready', readyCondition(observed, base)]];
}

/** Both sides have said yes; where the APIBinding is not ours to change, somebody has to say it there too. */
function claimsCondition(observed: BindingObservation, consent: Consent): ConditionState {
  const { apiBinding } = observed;
  if (consent.condition.reason !== 'Accepted' || apiBinding.kind !== 'found') return consent.condition;
  if (apiBinding.ours && mayBind(observed)) return consent.condition;
  const granted = new Set(grantedClaims(observed, consent).map(groupResourceKey));
  const missing = consent.accepted.filter((claim) => !granted.has(groupResourceKey(claim)));
  if (missing.length === 0) return consent.condition;
  const list = missing.map(groupResourceText).join(', ');
  const { name } = apiBinding.object.metadata;
  return no(
    'NotAccepted',
    `Accept the permission claim ${list} on APIBinding ${name} of this workspace too.`,
  );
}

function syncingCondition({ latest }: BindingObservation): ConditionState {
  return latest?.conditions.Syncing ?? unknown('Pending', 'Objects are synced once the API is bound.');
}

/** Consent to related resources, and a schema that is not followed, inform only; everything else has to hold. */
function readyCondition(observed: BindingObservation, others: BindingConditions): ConditionState {
  const bad = others.find(
    ([type, state]) =>
      state.status !== 'True' &&
      type !== 'PermissionClaimsAccepted' &&
      !(type === 'SchemaInSync' && isUnfollowed(state)) &&
      !(type === 'Syncing' && state.reason === 'Paused'),
  );
  if (bad !== undefined) return no('NotReady', `${bad[0]}: ${bad[1].message}`);
  if (observed.spec.paused === true) {
    return no('Paused', 'No object is written while spec.paused is true; set it to false to go on.');
  }
  return yes('Ready');
}

function phaseOf(observed: BindingObservation, conditions: BindingConditions): BindingPhase {
  const state = new Map(conditions);
  if (state.get('Ready')?.status === 'True') return 'Ready';
  if (state.get('Ready')?.reason === 'Paused') return 'Paused';
  if (observed.connection.kind === 'missing' || observed.connection.account === undefined) {
    return observed.generated === undefined ? 'Pending' : 'Degraded';
  }
  const bound = state.get('APIBound')?.status === 'True';
  const failing = conditions.some(
    ([type, { status }]) => status === 'False' && type !== 'Ready' && type !== 'PermissionClaimsAccepted',
  );
  return bound && failing ? 'Degraded' : 'Binding';
}
