import { ProtocolError } from '../errors.js';
import { isJsonObject, type JsonObject } from '../json-value.js';
import { parseJsonCut } from '../json-cut.js';
import type { JsonLimits } from '../json.js';
import type { KubeObject, WatchEvent } from '../object.js';
import { apiErrorFromStatus } from './api-error.js';
import { decodeObject, withoutCutFields } from './decode-object.js';

/**
 * Decodes one line of a watch; undefined for an object that is too deep to be read, as a list leaves it out.
 *
 * @throws ApiError for an in-stream ERROR, with the Status' own code
 * @throws ProtocolError for all that is no event
 */
export function decodeWatchEvent(line: Uint8Array, limits: JsonLimits, what: string): WatchEvent | undefined {
  const { value: event, cut } = parseJsonCut(line, limits);
  const object = isJsonObject(event) ? event['object'] : undefined;
  if (!isJsonObject(event) || !isJsonObject(object))
    throw new ProtocolError(`${what}: the watch sent something that is no event`);
  const type = event['type'];
  if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')
    return whole(type, decodeObject(object, what), cut);
  if (type === 'BOOKMARK') return decodeBookmark(object, what);
  if (type === 'ERROR') throw apiErrorFromStatus(object, what);
  throw new ProtocolError(`${what}: the watch sent an event of unknown type`);
}

function whole(
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  object: KubeObject,
  cut: boolean,
): WatchEvent | undefined {
  // Of what is gone nothing but its name and UID counts.
  if (!cut || type === 'DELETED') return { type, object };
  const read = withoutCutFields(object);
  return read && { type, object: read };
}

function decodeBookmark(object: JsonObject, what: string): WatchEvent {
  const meta = object['metadata'];
  const resourceVersion = isJsonObject(meta) ? meta['resourceVersion'] : undefined;
  if (!isJsonObject(meta) || typeof resourceVersion !== 'string' || resourceVersion === '')
    throw new ProtocolError(`${what}: the watch sent a bookmark without a resourceVersion`);
  const annotations = meta['annotations'];
  const initialEventsEnd = isJsonObject(annotations) && annotations['k8s.io/initial-events-end'] === 'true';
  return { type: 'BOOKMARK', resourceVersion, initialEventsEnd };
}
