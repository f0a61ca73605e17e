import type { ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';
import { readBoundSchemas } from '../../backend/provider/bound-schemas.js';
import type { ProviderContract } from '../../backend/provider/contract.js';
import { ensureExportRequest, type ExportOutcome } from '../../backend/provider/ensure-export.js';
import { readExportRequest } from '../../backend/provider/export-request.js';
import type { ProviderExport } from '../../backend/provider/provider-export.js';
import type { Clock } from '../../kube/clock.js';
import type { ExportRequestPlan } from '../protocol/assignment.js';
import type { KubeObject } from '../../kube/object.js';
import type { ConvertedSchema } from '../protocol/report.js';
import { schemaOutcome, type SchemaOutcome } from './schema-outcome.js';

export interface Prepared {
  readonly ExportReady: ConditionState;
  readonly SchemaInSync: ConditionState;
  /** Also the last one that was seen, when it is gone by now. */
  readonly export: ProviderExport | undefined;
  readonly schemas: readonly ConvertedSchema[] | undefined;
  /** True: nothing to wait for, look again after the usual time. */
  readonly settled: boolean;
}

export interface PreparationOptions {
  /** False: an export that is not there was taken away; asking for it again is not ours to do. */
  readonly mayRequest: boolean;
  /** The export as a watch has it; undefined: it must be asked for. */
  readonly seen: KubeObject | undefined;
  /** Called before a wait that may take long. */
  readonly onWaiting: (waiting: Prepared) => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Schemas are read again after so long even if the export says that they are the same. */
const SCHEMAS_MAX_AGE_MS = 10 * 60_000;
/** Schemas that are missing or refused are read again after so long. */
const INCOMPLETE_MAX_AGE_MS = 30_000;
/** How long a pass waits for a request: long once, as backends need a second, and then only to look. */
const FIRST_WAIT_MS = 60_000;

interface Read {
  readonly of: ProviderExport;
  readonly at: number;
  readonly outcome: SchemaOutcome;
}

/**
 * Gets from an export's plan to the schemas of its APIs: request, export, bound schemas, conversion. Remembers
 * what it has read, and reads schemas again only when the export's hash says that they changed.
 */
export class Preparation {
  readonly #clock: Clock;
  #waited = false;
  #read: Read | undefined;
  #last: Prepared | undefined;
  /** When the request was found to be gone. */
  #unfollowed: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What was found last; survives failures. */
  get last(): Prepared | undefined {
    return this.#last;
  }

  /** One idempotent pass. Rejects with the errors of KubeClient. */
  async pass(
    contract: ProviderContract,
    plan: ExportRequestPlan,
    options: PreparationOptions,
  ): Promise<Prepared> {
    const mayRequest = options.mayRequest && this.#read === undefined;
    const outcome = await this.#ensure(contract, mayRequest ? plan : { name: plan.name }, options);
    if (!('export' in outcome)) {
      const gone = !mayRequest && outcome.reason !== 'ProviderForbidden';
      this.#last = this.#without(gone ? removed(plan.name) : unready(outcome));
      return this.#last;
    }
    this.#waited = true;
    const found = outcome.export;
    const { condition, schemas, complete, writtenAt } = await this.#schemas(contract, found, options);
    const followed = await this.#isFollowed(contract, plan, options);
    this.#last = {
      ExportReady: { status: 'True', reason: 'ExportReady', message: 'The provider exports the API.' },
      SchemaInSync:
        condition.status === 'True' && !followed ? notFollowed(plan.name, contract, writtenAt) : condition,
      export: found,
      schemas,
      settled: complete,
    };
    return this.#last;
  }

  async #ensure(
    contract: ProviderContract,
    plan: ExportRequestPlan,
    options: PreparationOptions,
  ): Promise<ExportOutcome> {
    const { signal, timeoutMs, seen } = options;
    const look = { clock: this.#clock, signal, timeoutMs, deadlineMs: 0 };
    const outcome = await ensureExportRequest(contract, plan, { ...look, seen });
    if (outcome.reason !== 'RequestPending' || this.#waited) return outcome;
    options.onWaiting(
      this.#without({
        status: 'False',
        reason: 'Pending',
        message: 'The provider is asked for the API and has not answered yet.',
      }),
    );
    const waited = await ensureExportRequest(contract, plan, { ...look, deadlineMs: FIRST_WAIT_MS });
    this.#waited = true;
    return waited;
  }

  async #schemas(
    contract: ProviderContract,
    found: ProviderExport,
    { signal, timeoutMs }: PreparationOptions,
  ): Promise<SchemaOutcome> {
    const now = this.#clock.now();
    const read = this.#read;
    if (read?.of.schemaHash === found.schemaHash && read.of.uid === found.uid) {
      const maxAge = read.outcome.complete ? SCHEMAS_MAX_AGE_MS : INCOMPLETE_MAX_AGE_MS;
      if (now - read.at < maxAge) return read.outcome;
    }
    const reads = await readBoundSchemas(contract, found, { signal, timeoutMs });
    const outcome = keepIdentity(read?.outcome, schemaOutcome(reads));
    this.#read = { of: found, at: now, outcome };
    return outcome;
  }

  /**
   * A backend v0.8.2 carries out the policy Always only as long as the request is there, and removes a request that is
   * ten minutes old. One that is not there is seldom made again.
   */
  async #isFollowed(
    contract: ProviderContract,
    plan: ExportRequestPlan,
    { signal, timeoutMs }: PreparationOptions,
  ): Promise<boolean> {
    if (plan.create?.schemaUpdatePolicy !== 'Always') return true;
    const now = this.#clock.now();
    if (this.#unfollowed !== undefined && now - this.#unfollowed < SCHEMAS_MAX_AGE_MS) return false;
    const request = await readExportRequest(contract, plan.name, { signal, timeoutMs });
    this.#unfollowed = request === undefined ? now : undefined;
    return request !== undefined;
  }

  /** There is no export (any more); what was read from a former one is still true of the consumer's side. */
  #without(ExportReady: ConditionState): Prepared {
    return {
      ExportReady,
      SchemaInSync: {
        status: 'Unknown',
        reason: 'Pending',
        message: 'There is no export to read schemas from.',
      },
      export: this.#read?.of,
      schemas: this.#read?.outcome.schemas,
      settled: false,
    };
  }
}

/** The former list of schemas where nothing in it changed, so that equal reports are cheap to recognise. */
function keepIdentity(former: SchemaOutcome | undefined, next: SchemaOutcome): SchemaOutcome {
  const same =
    former?.schemas.length === next.schemas.length &&
    former.schemas.every((schema, i) => schema.contentHash === next.schemas[i]?.contentHash);
  return same ? { ...next, schemas: former.schemas } : next;
}

function unready(outcome: Exclude<ExportOutcome, { reason: 'ExportReady' }>): ConditionState {
  return { status: 'False', reason: outcome.reason, message: sentence(outcome.message) };
}

function notFollowed(
  name: string,
  { namespace }: ProviderContract,
  writtenAt: string | undefined,
): ConditionState {
  const age = writtenAt === undefined ? '' : `, which was written at ${writtenAt}`;
  return {
    status: 'Unknown',
    reason: 'NotFollowed',
    message: `The workspace serves the provider's bound schema${age}. The provider promised to keep it up to date (schemaUpdatePolicy Always), but its backend does so only while there is a request for the export, and there is none. To get later changes, ask the provider to create APIServiceExportRequest ${untrustedText(name, 253)} in namespace ${namespace} again.`,
  };
}

function removed(name: string): ConditionState {
  return {
    status: 'False',
    reason: 'ExportNotFound',
    message: `The provider has removed its APIServiceExport ${untrustedText(name, 253)}. Nothing is deleted here. Ask the provider to offer the API again, or delete this binding.`,
  };
}

/** The first letter large, and a full stop. */
export function sentence(text: string): string {
  const start = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(start) ? start : `${start}.`;
}
