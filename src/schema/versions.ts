import { isJsonObject, type JsonObject } from '../kube/json-value.js';
import {
  field,
  optionalBoolean,
  optionalList,
  optionalObject,
  optionalString,
  requiredString,
} from './fields.js';
import { adaptJsonSchema, type TakeNote } from './json-schema.js';
import { unsupported } from './problem.js';
import { MAX_VERSIONS, type SchemaVersion } from './resource-schema.js';

/** kcp's pattern for version names. */
const VERSION_NAME = /^v[1-9][0-9]*([a-z]+[1-9][0-9]*)?$/;
const MAX_COLUMNS = 64;

/** `spec.versions`, each with the bare JSON schema. */
export function readVersions(spec: JsonObject, note: TakeNote): SchemaVersion[] {
  const list = optionalList(spec, 'versions', 'spec');
  if (list.length === 0) throw unsupported('spec.versions', 'the schema has no versions');
  if (list.length > MAX_VERSIONS)
    throw unsupported('spec.versions', `the schema has more than ${MAX_VERSIONS} versions`);
  const versions = list.map((item, index) => {
    if (!isJsonObject(item))
      throw unsupported(`spec.versions[${index}]`, `spec.versions[${index}] is not an object`);
    return readVersion(item, `spec.versions[${index}]`, note);
  });
  const names = new Set(versions.map((version) => version.name));
  if (names.size !== versions.length)
    throw unsupported('spec.versions', 'the schema lists a version name twice');
  return versions;
}

function readVersion(item: JsonObject, index: string, note: TakeNote): SchemaVersion {
  const name = requiredString(item, 'name', index);
  if (name.length > 63 || !VERSION_NAME.test(name))
    throw unsupported(
      `${index}.name`,
      `version "${name.slice(0, 63)}" is not named like v1, v1beta1 or v2alpha3, which kcp requires`,
    );
  const path = `spec.versions[${name}]`;
  const version: SchemaVersion = {
    name,
    served: optionalBoolean(item, 'served', path),
    storage: optionalBoolean(item, 'storage', path),
    schema: adaptJsonSchema(bareSchema(item, path), `${path}.schema`, note),
  };
  if (optionalBoolean(item, 'deprecated', path)) {
    version.deprecated = true;
    const warning = optionalString(item, 'deprecationWarning', path);
    if (warning !== undefined) version.deprecationWarning = warning;
  }
  const subresources = readSubresources(item, path);
  if (subresources !== undefined) version.subresources = subresources;
  const columns = readColumns(item, path, note);
  if (columns.length > 0) version.additionalPrinterColumns = columns;
  return version;
}

/** A bound schema made from a CRD wraps the JSON schema in `openAPIV3Schema`, one made from an APIResourceSchema does not. */
function bareSchema(item: JsonObject, path: string): JsonObject {
  const schema = optionalObject(item, 'schema', path);
  if (schema === undefined) throw unsupported(`${path}.schema`, `${path} has no schema, which kcp requires`);
  // A JSON schema has no keyword of that name, so the key cannot belong to a bare one.
  return optionalObject(schema, 'openAPIV3Schema', `${path}.schema`) ?? schema;
}

function readSubresources(item: JsonObject, path: string): SchemaVersion['subresources'] {
  const source = optionalObject(item, 'subresources', path);
  if (source === undefined) return undefined;
  const status = optionalObject(source, 'status', `${path}.subresources`);
  const scale = optionalObject(source, 'scale', `${path}.subresources`);
  if (status === undefined && scale === undefined) return undefined;
  return { ...(status === undefined ? {} : { status: {} }), ...(scale === undefined ? {} : { scale }) };
}

/** kcp keeps columns in a map by name, a CRD in a list: of two with one name the first one stays. */
function readColumns(item: JsonObject, path: string, note: TakeNote): JsonObject[] {
  const list = optionalList(item, 'additionalPrinterColumns', path);
  if (list.length > MAX_COLUMNS)
    throw unsupported(
      `${path}.additionalPrinterColumns`,
      `${path} has more than ${MAX_COLUMNS} printer columns`,
    );
  const columns = new Map<string, JsonObject>();
  for (const [index, column] of list.entries()) {
    const at = `${path}.additionalPrinterColumns[${index}]`;
    if (!isJsonObject(column)) throw unsupported(at, `${at} is not an object`);
    const name = requiredString(column, 'name', at);
    requiredString(column, 'type', at);
    if (field(column, 'jsonPath') === undefined)
      throw unsupported(`${at}.jsonPath`, `${at}.jsonPath is missing`);
    if (columns.has(name)) note(`${at}: a second column of the same name was left out`);
    else columns.set(name, column);
  }
  return [...columns.values()];
}
