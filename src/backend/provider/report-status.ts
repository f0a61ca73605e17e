import type { ConditionState } from '../../api/conditions.js';
import { GVR } from '../../api/gvr.js';
import type { RequestOptions } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import type { JsonObject } from '../../kube/json-value.js';
import type { ProviderContract } from './contract.js';
import { mergeConditions, type ProviderCondition } from './provider-conditions.js';
import { statusOf, updateStatus, type StatusWrite } from './status-patch.js';
import { timestamp } from './timestamp.js';

const MAX_MESSAGE = 1024;

/** How one API is served to the consumer, in words that a provider knows from a CRD. */
export interface ServedApi {
  readonly names: {
    readonly plural: string;
    readonly kind: string;
    readonly singular?: string | undefined;
    readonly listKind?: string | undefined;
    readonly shortNames?: readonly string[] | undefined;
    readonly categories?: readonly string[] | undefined;
  };
  readonly storedVersions: readonly string[];
  readonly served: boolean;
  /** Why it is not served. */
  readonly problem?: { readonly reason: string; readonly message: string; readonly names: boolean };
}

/** What the provider learns about an export: it is bound, or (while we leave) not any more. */
export type ExportReport =
  | { readonly bound: true; readonly schemaInSync: ConditionState; readonly problem?: string | undefined }
  | { readonly bound: false };

type ReportOptions = RequestOptions & { readonly clock: Clock };

/** Writes BoundSchema.status as a konnector would for the CRD that it makes. Writes only what differs. */
export async function reportBoundSchemaStatus(
  contract: ProviderContract,
  name: string,
  api: ServedApi,
  { clock, ...options }: ReportOptions,
): Promise<StatusWrite> {
  const target = { gvr: GVR.boundSchemas, name };
  return updateStatus(
    contract,
    target,
    (object) => ({
      acceptedNames: acceptedNames(api.names),
      storedVersions: [...api.storedVersions],
      conditions: mergeConditions(
        statusOf(object)['conditions'],
        schemaConditions(api),
        timestamp(clock.now()),
        { summary: true },
      ),
    }),
    options,
  );
}

/** Writes the conditions of APIServiceExport.status that are a konnector's. Writes only what differs. */
export async function reportExportStatus(
  contract: ProviderContract,
  name: string,
  report: ExportReport,
  { clock, ...options }: ReportOptions,
): Promise<StatusWrite> {
  const target = { gvr: GVR.exports, name };
  return updateStatus(
    contract,
    target,
    (object) => ({
      conditions: mergeConditions(
        statusOf(object)['conditions'],
        exportConditions(report),
        timestamp(clock.now()),
        { summary: false },
      ),
    }),
    options,
  );
}

/** Conditions of a BoundSchema, those of a CRD with severities. */
function schemaConditions({ served, problem }: ServedApi): ProviderCondition[] {
  const broken = {
    status: 'False' as const,
    severity: 'Error' as const,
    reason: problem?.reason ?? 'NotServed',
    message: (problem?.message ?? 'not served in the consumer workspace yet').slice(0, MAX_MESSAGE),
  };
  return [
    problem?.names === true
      ? { type: 'NamesAccepted', ...broken }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts' },
    served
      ? { type: 'Established', status: 'True', reason: 'InitialNamesAccepted' }
      : { type: 'Established', ...broken },
  ];
}

/** Conditions of an APIServiceExport that speak about the consumer. */
function exportConditions(report: ExportReport): ProviderCondition[] {
  if (!report.bound) {
    const message = 'no binding of the consumer refers to this export any more';
    return [
      { type: 'Connected', status: 'False', severity: 'Info', reason: 'APIServiceBindingNotFound', message },
      { type: 'ConsumerInSync', status: 'Unknown', reason: 'NA', message },
    ];
  }
  const { schemaInSync, problem } = report;
  return [
    problem === undefined
      ? { type: 'Connected', status: 'True' }
      : {
          type: 'Connected',
          status: 'False',
          severity: 'Warning',
          reason: 'BoundSchemasNotValid',
          message: problem.slice(0, MAX_MESSAGE),
        },
    consumerInSync(schemaInSync),
  ];
}

function consumerInSync({ status, reason, message }: ConditionState): ProviderCondition {
  if (status === 'True') return { type: 'ConsumerInSync', status };
  return {
    type: 'ConsumerInSync',
    status,
    ...(status === 'False' ? { severity: 'Info' as const } : {}),
    reason,
    message: message.slice(0, MAX_MESSAGE),
  };
}

function acceptedNames(names: ServedApi['names']): JsonObject {
  const { plural, kind, singular, listKind, shortNames = [], categories = [] } = names;
  return {
    plural,
    kind,
    ...(singular === undefined ? {} : { singular }),
    ...(listKind === undefined ? {} : { listKind }),
    ...(shortNames.length === 0 ? {} : { shortNames: [...shortNames] }),
    ...(categories.length === 0 ? {} : { categories: [...categories] }),
  };
}
