import { createHash } from 'node:crypto';
import { scanJson } from '../kube/json-scan.js';
import type { JsonObject } from '../kube/json-value.js';
import { sortedJson } from './sorted-json.js';
import { optionalObject, optionalString } from './fields.js';
import { checkGroup, schemaAnnotations } from './groups.js';
import type { TakeNote } from './json-schema.js';
import { readNames } from './names.js';
import { SchemaProblem, tooLarge, unsupported, type ProblemReason } from './problem.js';
import {
  MAX_SPEC_BYTES,
  MAX_SPEC_DEPTH,
  syncVersionOf,
  type ConvertedSchema,
  type ResourceSchemaSpec,
  type SchemaVersion,
} from './resource-schema.js';
import { readVersions } from './versions.js';

const MAX_NOTES = 20;

export type ConversionResult =
  | {
      readonly ok: true;
      readonly schema: ConvertedSchema;
      readonly spec: ResourceSchemaSpec;
      /** What the APIResourceSchema must carry in `metadata.annotations`. */
      readonly annotations: Readonly<Record<string, string>>;
      /** What was changed or left out, in sentences; at most 20. */
      readonly notes: readonly string[];
    }
  | {
      readonly ok: false;
      readonly reason: ProblemReason;
      /** The version that cannot be served, when it is one of them. */
      readonly version?: string;
      /** Where in the bound schema. */
      readonly path: string;
      readonly message: string;
    };

/**
 * A BoundSchema (or anything with the same spec, such as a CRD) as the spec of kcp's APIResourceSchema, without loss:
 * both encodings of the JSON schema, all extensions, several versions with conversion None. Never throws for what
 * is in the object.
 */
export function convertBoundSchema(boundSchema: JsonObject): ConversionResult {
  try {
    return limited(convertSpec(optionalObject(boundSchema, 'spec', '') ?? {}));
  } catch (error) {
    if (error instanceof SchemaProblem) return refusal(error);
    throw error;
  }
}

type Conversion = Extract<ConversionResult, { ok: true }>;

/** Throws SchemaProblem. */
function convertSpec(source: JsonObject): Conversion {
  const group = optionalString(source, 'group', 'spec') ?? '';
  checkGroup(group, 'spec.group');
  const notes: string[] = [];
  const note: TakeNote = (text) => {
    if (notes.length < MAX_NOTES) notes.push(text.slice(0, 600));
  };
  const versions = settleStorage(settleConversion(source, readVersions(source, note), note), note);
  const spec: ResourceSchemaSpec = { group, names: readNames(source), scope: readScope(source), versions };
  if (versions.length > 1) spec.conversion = { strategy: 'None' };
  const schema = { ...describe(spec), ...(strategyOf(source) === 'None' ? {} : { webhook: true }) };
  return { ok: true, schema, spec, annotations: schemaAnnotations(group), notes };
}

/** The converted schema of a spec that is complete. Throws SchemaProblem when no version is served. */
export function describe(spec: ResourceSchemaSpec): ConvertedSchema {
  const sync = syncVersionOf(spec);
  if (sync === undefined) throw unsupported('spec.versions', 'the provider serves no version of this API');
  const specJson = sortedJson(spec);
  return {
    group: spec.group,
    resource: spec.names.plural,
    kind: spec.names.kind,
    scope: spec.scope,
    versions: spec.versions.filter((version) => version.served).map((version) => version.name),
    syncVersion: sync.name,
    contentHash: createHash('sha256').update(specJson).digest('hex'),
    specJson,
  };
}

function readScope(source: JsonObject): ResourceSchemaSpec['scope'] {
  const scope = optionalString(source, 'scope', 'spec');
  if (scope === 'Cluster' || scope === 'Namespaced') return scope;
  throw unsupported('spec.scope', 'spec.scope is neither Cluster nor Namespaced');
}

function strategyOf(source: JsonObject): string {
  const conversion = optionalObject(source, 'conversion', 'spec') ?? {};
  return optionalString(conversion, 'strategy', 'spec.conversion') ?? 'None';
}

/**
 * A conversion webhook lives on the provider, where kcp cannot call it. It is only missed where more than one
 * version is served: a single one is served alone.
 */
function settleConversion(
  source: JsonObject,
  versions: SchemaVersion[],
  note: (text: string) => void,
): SchemaVersion[] {
  const strategy = strategyOf(source);
  if (strategy === 'None') return versions;
  const served = versions.filter((version) => version.served);
  const [only] = served;
  if (strategy !== 'Webhook' || only === undefined || served.length > 1) {
    const names = served.map((version) => version.name).join(', ');
    throw unsupported(
      'spec.conversion.strategy',
      `versions ${names} are converted by strategy ${strategy.slice(0, 40)}, which kcp cannot call on the provider; ` +
        'ask the provider to serve one version, or to use conversion strategy None',
    );
  }
  note(`the provider's conversion webhook is not used: version ${only.name} is served alone`);
  return [{ ...only, storage: true }];
}

/**
 * kcp can only empty and unbind an API whose storage version is served. Where the provider stores in one that is not,
 * the first served one takes its place: kcp's storage is its own.
 */
function settleStorage(versions: SchemaVersion[], note: (text: string) => void): SchemaVersion[] {
  const stored = versions.filter((version) => version.storage);
  const [first] = stored;
  if (first === undefined || stored.length > 1)
    throw unsupported(
      'spec.versions',
      `${first === undefined ? 'no version is' : 'more than one version is'} marked as the storage version; kcp needs exactly one`,
    );
  const sync = versions.find((version) => version.served);
  if (first.served || sync === undefined) return versions;
  note(
    `version ${sync.name} is the storage version in kcp, since the provider's, ${first.name}, is not served`,
  );
  return versions.map((version) => ({ ...version, storage: version === sync }));
}

function limited(conversion: Conversion): Conversion {
  const bytes = Buffer.byteLength(conversion.schema.specJson);
  if (bytes > MAX_SPEC_BYTES)
    throw tooLarge(
      'spec',
      `the schema has ${bytes} bytes of JSON, more than the limit of ${MAX_SPEC_BYTES}; ask the provider for a smaller one`,
    );
  if (scanJson(conversion.schema.specJson, MAX_SPEC_DEPTH).depth > MAX_SPEC_DEPTH)
    throw tooLarge('spec', `the schema's JSON is nested deeper than ${MAX_SPEC_DEPTH} levels`);
  return conversion;
}

function refusal(problem: SchemaProblem): ConversionResult {
  const version = /^spec\.versions\[(v[a-z0-9]+)\]/.exec(problem.path)?.[1];
  return {
    ok: false,
    reason: problem.reason,
    ...(version === undefined ? {} : { version }),
    path: problem.path,
    message: problem.message,
  };
}
