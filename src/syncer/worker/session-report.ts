import type { ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';
import type { ExportedClaim } from '../../backend/provider/provider-export.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import type { BindingAssignment } from '../protocol/assignment.js';
import { MESSAGE_LIMITS } from '../protocol/limits.js';
import type { BindingReport, ReportedClaim } from '../protocol/report.js';
import type { Prepared } from './preparation.js';
import type { SyncStats } from './resource-sync.js';
import { syncFigures, syncingCondition } from './syncing-condition.js';

/** Everything that a session knows when it reports. */
export interface SessionFacts {
  readonly assignment: BindingAssignment;
  readonly connected: ConditionState | undefined;
  /** Overrides what was prepared last: the provider forbids to look. */
  readonly exportProblem: ConditionState | undefined;
  /** Overrides what the syncs say: nothing can be synced at all. */
  readonly syncProblem: ConditionState | undefined;
  readonly prepared: Prepared | undefined;
  readonly contractNamespaceUid: string | undefined;
  readonly prettyName: string | undefined;
  readonly heartbeat: ConditionState | undefined;
  readonly rotated: ServerCredentials | undefined;
  readonly stats: readonly SyncStats[];
  readonly drained: boolean;
  readonly left: boolean;
  readonly remaining: readonly string[];
}

const MAX_MESSAGE = MESSAGE_LIMITS.message;

/** The report of what a session knows, within the protocol's bounds. Pure. */
export function sessionReport(facts: SessionFacts): BindingReport {
  const { assignment, prepared, stats, drained } = facts;
  const { stage, paused } = assignment;
  const syncing = facts.syncProblem ?? syncingCondition({ stage, paused, drained, stats });
  const namespaces = new Set(stats.flatMap((each) => each.namespaces));
  const prettyName = untrustedText(facts.prettyName, 256);
  return {
    key: assignment.key,
    revision: assignment.revision,
    conditions: {
      ...bounded('Connected', facts.connected),
      ...bounded('ExportReady', facts.exportProblem ?? prepared?.ExportReady),
      ...bounded('SchemaInSync', prepared?.SchemaInSync),
      ...bounded('Syncing', syncing),
    },
    ...(facts.contractNamespaceUid !== undefined && { contractNamespaceUid: facts.contractNamespaceUid }),
    ...(prettyName !== '' && { provider: { prettyName } }),
    // As it is, not copied: that the list is the same one tells that it need not be sent again.
    ...(prepared?.schemas && { schemas: prepared.schemas }),
    ...(prepared?.export && { claims: reportedClaims(prepared.export.permissionClaims) }),
    ...(facts.heartbeat !== undefined && { heartbeat: boundedState(facts.heartbeat) }),
    sync: syncFigures(stats),
    ...(facts.rotated !== undefined && { rotatedCredentials: facts.rotated }),
    drained,
    left: facts.left,
    remaining: facts.remaining
      .slice(0, MESSAGE_LIMITS.remaining)
      .map((line) => untrustedText(line, MAX_MESSAGE)),
    namespaces: [...namespaces].sort().slice(0, MESSAGE_LIMITS.namespaces),
  };
}

function bounded<T extends string>(
  type: T,
  state: ConditionState | undefined,
): Partial<Record<T, ConditionState>> {
  const result: Partial<Record<string, ConditionState>> = {};
  if (state !== undefined) result[type] = boundedState(state);
  return result;
}

function boundedState({ status, reason, message }: ConditionState): ConditionState {
  return { status, reason, message: untrustedText(message, MAX_MESSAGE) };
}

function reportedClaims(claims: readonly ExportedClaim[]): readonly ReportedClaim[] {
  return claims.slice(0, MESSAGE_LIMITS.claims).map(({ group, resource, selector }) => ({
    group,
    resource,
    selector: untrustedText(JSON.stringify(selector), MESSAGE_LIMITS.selector),
  }));
}
