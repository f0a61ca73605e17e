import type { JsonObject } from '../kube/json-value.js';
import { optionalObject, optionalString, requiredString, stringList } from './fields.js';
import { unsupported } from './problem.js';
import type { ResourceNames } from './resource-schema.js';

/** A DNS label that starts with a letter (RFC 1035), as kcp asks of every name below `spec.names`. */
const LABEL = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const MAX_LISTED_NAMES = 64;

/** `spec.names`, completed like the API server completes a CRD's: singular and list kind from the kind. */
export function readNames(spec: JsonObject): ResourceNames {
  const path = 'spec.names';
  const names = optionalObject(spec, 'names', 'spec') ?? {};
  const plural = checkLabel(requiredString(names, 'plural', path), `${path}.plural`);
  const kind = requiredString(names, 'kind', path);
  checkLabel(kind.toLowerCase(), `${path}.kind`);
  const singular = optionalString(names, 'singular', path) ?? '';
  const listKind = optionalString(names, 'listKind', path) ?? '';
  const result: ResourceNames = {
    plural,
    singular: checkLabel(singular === '' ? kind.toLowerCase() : singular, `${path}.singular`),
    kind,
    listKind: listKind === '' ? `${kind}List` : listKind,
  };
  checkLabel(result.listKind.toLowerCase(), `${path}.listKind`);
  if (result.listKind === kind)
    throw unsupported(`${path}.listKind`, `${path}.kind and ${path}.listKind are the same`);
  const shortNames = readList(names, 'shortNames', path);
  const categories = readList(names, 'categories', path);
  if (shortNames.length > 0) result.shortNames = shortNames;
  if (categories.length > 0) result.categories = categories;
  return result;
}

function readList(names: JsonObject, key: string, path: string): string[] {
  const list = stringList(names, key, path);
  if (list.length > MAX_LISTED_NAMES)
    throw unsupported(`${path}.${key}`, `${path}.${key} lists more than ${MAX_LISTED_NAMES} names`);
  for (const name of list) checkLabel(name, `${path}.${key}`);
  return list;
}

function checkLabel(name: string, path: string): string {
  if (LABEL.test(name)) return name;
  throw unsupported(
    path,
    `${path} "${name.slice(0, 80)}" is not a DNS label of at most 63 letters, digits and dashes`,
  );
}
