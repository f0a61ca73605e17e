import { KubeError } from '../kube/errors.js';
import { parseJson } from '../kube/json.js';
import { isJsonObject } from '../kube/json-value.js';
import { convertBoundSchema, type ConversionResult } from './convert.js';
import { MAX_SPEC_BYTES, MAX_SPEC_DEPTH } from './resource-schema.js';

/**
 * The receiver's check of a spec that a worker says is converted. A worker may be in a provider's hands, so nothing
 * that it says is believed: a spec is good when it is the text that the conversion itself makes of it, which covers
 * names, group, scope, versions, every bound and every field that does not belong there. The result describes the
 * spec anew; compare its `contentHash` with the claimed one.
 */
export function validateConverted(specJson: string): ConversionResult {
  if (Buffer.byteLength(specJson) > MAX_SPEC_BYTES)
    return refuse('TooLarge', `the converted schema has more than ${MAX_SPEC_BYTES} bytes`);
  let spec;
  try {
    spec = parseJson(specJson, { maxBytes: MAX_SPEC_BYTES, maxDepth: MAX_SPEC_DEPTH });
  } catch (error) {
    if (error instanceof KubeError) return refuse('Unsupported', `the converted schema is ${error.message}`);
    throw error;
  }
  if (!isJsonObject(spec)) return refuse('Unsupported', 'the converted schema is not an object');
  const again = convertBoundSchema({ spec });
  if (again.ok && again.schema.specJson !== specJson)
    return refuse('Unsupported', 'the converted schema is not in the form that the conversion gives');
  return again;
}

function refuse(reason: 'Unsupported' | 'TooLarge', message: string): ConversionResult {
  return { ok: false, reason, path: 'spec', message };
}
