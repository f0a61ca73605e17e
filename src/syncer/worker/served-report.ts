import type { ConditionState } from '../../api/conditions.js';
import type { ProviderContract } from '../../backend/provider/contract.js';
import { boundSchemaName } from '../../backend/provider/bound-schemas.js';
import {
  reportBoundSchemaStatus,
  reportExportStatus,
  type ServedApi,
} from '../../backend/provider/report-status.js';
import type { RequestOptions } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import { parseJson } from '../../kube/json.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kube/json-value.js';
import type { ConvertedSchema } from '../protocol/report.js';

/** What the provider is told: the API of its export is served to the consumer. */
export interface Served {
  readonly exportName: string;
  readonly schemas: readonly ConvertedSchema[];
  readonly schemaInSync: ConditionState;
}

/** Tells the provider how its export is served, as a konnector would, when that has changed since the last time. */
export class ServedReport {
  readonly #clock: Clock;
  #told: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects with the errors of KubeClient. */
  async tell(contract: ProviderContract, served: Served, request: RequestOptions): Promise<void> {
    const { exportName, schemas, schemaInSync } = served;
    const news = JSON.stringify([exportName, schemaInSync, schemas.map((schema) => schema.contentHash)]);
    if (news === this.#told) return;
    const options = { clock: this.#clock, ...request };
    for (const schema of schemas) {
      await reportBoundSchemaStatus(contract, boundSchemaName(schema), servedApi(schema), options);
    }
    await reportExportStatus(contract, exportName, { bound: true, schemaInSync }, options);
    this.#told = news;
  }
}

/** The names and versions of a schema that is served. Pure. */
function servedApi(schema: ConvertedSchema): ServedApi {
  const spec = parseJson(schema.specJson);
  const names = isJsonObject(spec) && isJsonObject(spec['names']) ? spec['names'] : {};
  const versions = isJsonObject(spec) ? objects(spec['versions']) : [];
  const stored = versions.filter((version) => version['storage'] === true).map((version) => version['name']);
  return {
    names: {
      plural: schema.resource,
      kind: schema.kind,
      singular: text(names['singular']),
      listKind: text(names['listKind']),
      shortNames: texts(names['shortNames']),
      categories: texts(names['categories']),
    },
    storedVersions: texts(stored),
    served: true,
  };
}

function objects(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function texts(value: JsonValue | readonly (JsonValue | undefined)[] | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
