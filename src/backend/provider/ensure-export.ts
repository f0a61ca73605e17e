import type { BindingReason } from '../../api/conditions.js';
import { GVR } from '../../api/gvr.js';
import { untrustedText } from '../../api/untrusted-text.js';
import type { RequestOptions } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import { isStatus, type ApiError } from '../../kube/errors.js';
import type { KubeObject } from '../../kube/object.js';
import type { ProviderContract } from './contract.js';
import { exportRequest, readExportRequest, requestState, type ExportPlan } from './export-request.js';
import { parseExport, readExport, type ProviderExport } from './provider-export.js';

const DEADLINE_MS = 60_000;
const POLL_MS = [250, 500, 1000, 1000, 2000];

export interface EnsureExportOptions {
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to wait for the export. Default 60 s; the backend normally needs less than one. */
  readonly deadlineMs?: number | undefined;
  /** Milliseconds for one request to the provider. */
  readonly timeoutMs?: number | undefined;
  /** The export as a watch has it: saves the first look. */
  readonly seen?: KubeObject | undefined;
}

type FailureReason = Extract<
  BindingReason<'ExportReady'>,
  'ExportNotFound' | 'ExportMismatch' | 'RequestPending' | 'RequestFailed' | 'ProviderForbidden'
>;

/** Reasons are those of the binding's condition ExportReady; messages are for it. */
export type ExportOutcome =
  | { readonly reason: 'ExportReady'; readonly export: ProviderExport }
  | { readonly reason: FailureReason; readonly message: string };

/**
 * Sees to it that the planned export exists. Safe to call again at any time: an export that is there is taken as it
 * is, a request that is there is waited for. A backend leaves many requests Pending for ever without a word (the schema
 * is not exported, scopes differ, the export came before the request), so the export itself is what counts, and
 * the deadline is ours. Rejects with the errors of KubeClient where the provider does not answer or 401.
 */
export async function ensureExportRequest(
  contract: ProviderContract,
  plan: ExportPlan,
  options: EnsureExportOptions,
): Promise<ExportOutcome> {
  const { clock, signal } = options;
  const request: RequestOptions = { signal, timeoutMs: options.timeoutMs };
  let { seen } = options;
  const deadline = clock.now() + (options.deadlineMs ?? DEADLINE_MS);
  try {
    for (let round = 0; ; round++) {
      const found = seen === undefined ? await readExport(contract, plan.name, request) : parseExport(seen);
      seen = undefined;
      if (found !== undefined && !found.terminating) return judgeExport(found, plan);
      const failure = await advance(contract, plan, request);
      if (failure !== undefined) return failure;
      const remaining = deadline - clock.now();
      if (remaining <= 0) return pending(plan, options.deadlineMs ?? DEADLINE_MS);
      await clock.sleep(Math.min(remaining, POLL_MS[round] ?? 3000), signal);
    }
  } catch (error) {
    if (isStatus(error, 403)) return forbidden(error);
    throw error;
  }
}

/** Makes the request where there is none; the outcome where waiting is of no use. */
async function advance(
  contract: ProviderContract,
  plan: ExportPlan,
  options: RequestOptions,
): Promise<ExportOutcome | undefined> {
  const current = await readExportRequest(contract, plan.name, options);
  if (current !== undefined) {
    const state = requestState(current);
    // A late success is called Failed, with the export on its way and nothing in the message.
    if (state.phase !== 'Failed' || state.message === '') return undefined;
    return {
      reason: 'RequestFailed',
      message: `the provider refused export request ${plan.name}: ${state.message}. Ask the provider, then delete the request there or wait ten minutes`,
    };
  }
  const { create } = plan;
  if (create === undefined)
    return {
      reason: 'ExportNotFound',
      message: `there is neither an APIServiceExport nor a request named ${plan.name} in the provider's namespace ${contract.namespace}; ask the provider for its name, or set spec.resources`,
    };
  const incomplete = create.resources.find((resource) => resource.versions.length === 0);
  if (incomplete !== undefined)
    return {
      reason: 'RequestFailed',
      message: `resource ${nameOf(incomplete)} is asked for without versions, which a backend never answers; ask the provider to complete its template`,
    };
  try {
    await contract.client.create(
      GVR.exportRequests,
      exportRequest(contract.namespace, plan.name, create),
      options,
    );
  } catch (error) {
    if (isStatus(error, 409)) return undefined;
    if (isStatus(error, 422) || isStatus(error, 400)) return invalid(plan, error);
    throw error;
  }
  return undefined;
}

/** An export is frozen when it is made: resources that were added to the template later are not in it. */
function judgeExport(found: ProviderExport, plan: ExportPlan): ExportOutcome {
  const exported = new Set(found.resources.map(nameOf));
  const missing = (plan.create?.resources ?? []).map(nameOf).filter((name) => !exported.has(name));
  if (missing.length === 0) return { reason: 'ExportReady', export: found };
  return {
    reason: 'ExportMismatch',
    message:
      `APIServiceExport ${plan.name} exists without ${missing.slice(0, 5).join(', ')}, and an export cannot change. ` +
      'Make another connection with a new spec.backend.account, or ask the provider to delete the export',
  };
}

function nameOf({ group, resource }: { readonly group: string; readonly resource: string }): string {
  return group === '' ? resource : `${resource}.${group}`;
}

function pending(plan: ExportPlan, waitedMs: number): ExportOutcome {
  return {
    reason: 'RequestPending',
    message:
      `the provider has not answered export request ${plan.name} for ${Math.round(waitedMs / 1000)} s. ` +
      'Ask the provider whether its backend runs, and whether all resources of the request are exported and have one scope',
  };
}

function invalid(plan: ExportPlan, error: ApiError): ExportOutcome {
  return {
    reason: 'RequestFailed',
    message: `the provider's API server refuses export request ${plan.name}: ${untrustedText(error.message, 500)}`,
  };
}

function forbidden(error: ApiError): ExportOutcome {
  return {
    reason: 'ProviderForbidden',
    message: `the account may not do this on the provider: ${untrustedText(error.message, 400)}. Ask the provider for the rights of a kube-bind consumer`,
  };
}
