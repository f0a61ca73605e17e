import { isJsonObject } from '../json-value.js';
import { isLogicalCluster } from '../logical-cluster.js';
import type { KubeObject } from '../object.js';
import type { ObjectName } from '../object.js';
import type { ObjectKey } from './object-store.js';

/** An ObjectKey as text, for work queues, logs and maps: `<cluster>|<namespace>/<name>` or `<cluster>|<name>`. */
export type ObjectKeyText = string & { readonly __brand: 'ObjectKeyText' };

export function formatKey(key: ObjectKey): ObjectKeyText {
  const local = key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
  return `${key.cluster}|${local}` as ObjectKeyText;
}

/** @throws TypeError where the text was not made by `formatKey` */
export function parseKey(text: ObjectKeyText): ObjectKey {
  const bar = text.indexOf('|');
  const cluster = text.slice(0, bar);
  const [first = '', second, ...more] = text.slice(bar + 1).split('/');
  if (!isLogicalCluster(cluster) || first === '' || second === '' || more.length > 0)
    throw new TypeError(`${JSON.stringify(text)} is not the key of an object`);
  return second === undefined ? { cluster, name: first } : { cluster, namespace: first, name: second };
}

/** The address within its logical cluster. */
export function nameOfKey(text: ObjectKeyText): ObjectName {
  const { name, namespace } = parseKey(text);
  return namespace === undefined ? { name } : { namespace, name };
}

/** The logical cluster of a key: the group of a fair work queue. */
export function clusterOfKey(text: ObjectKeyText): string {
  return text.slice(0, text.indexOf('|'));
}

/**
 * True where namespace and name could be those of a stored object. What a server sends is not trusted: these
 * strings become keys and parts of request paths.
 */
export function hasSoundName({ metadata }: KubeObject): boolean {
  return (
    isJsonObject(metadata) &&
    isSegment(metadata.name) &&
    (metadata.namespace === undefined || isSegment(metadata.namespace))
  );
}

function isSegment(text: unknown): boolean {
  return (
    typeof text === 'string' &&
    text.length > 0 &&
    text.length <= 253 &&
    text !== '.' &&
    text !== '..' &&
    // Bars and slashes separate the parts of a key; control characters are in no name at all.
    // eslint-disable-next-line no-control-regex
    !/[/|%\u0000-\u001f]/.test(text)
  );
}
