import { Ajv, type ValidateFunction } from 'ajv';
import { FROM_WORKER_SCHEMAS } from './from-worker-schema.js';
import { MAX_SCHEMAS_TEXT } from './limits.js';
import type { FromWorker } from './report.js';

export type ReadMessage =
  | { readonly ok: true; readonly message: FromWorker }
  /** `path` is where the message breaks the schema; it never holds a value of the message. */
  | { readonly ok: false; readonly path: string };

/**
 * Gives the function that turns what came out of a worker into a message, or says where it is none.
 * Compiles the schemas once; each call is linear in the size of the message.
 */
export function createMessageReader(): (value: unknown) => ReadMessage {
  const ajv = new Ajv({ strict: true, strictTypes: false, logger: false });
  const validators = new Map<unknown, ValidateFunction<FromWorker>>(
    Object.entries(FROM_WORKER_SCHEMAS).map(([type, schema]) => [type, ajv.compile<FromWorker>(schema)]),
  );
  return (value) => {
    if (typeof value !== 'object' || value === null || !('type' in value))
      return { ok: false, path: '/type' };
    const validate = validators.get(value.type);
    if (validate === undefined) return { ok: false, path: '/type' };
    if (validate(value)) {
      return schemasText(value) > MAX_SCHEMAS_TEXT
        ? { ok: false, path: '/report/schemas (total)' }
        : { ok: true, message: value };
    }
    const error = validate.errors?.[0];
    return { ok: false, path: `${error?.instancePath ?? ''} (${error?.keyword ?? 'invalid'})` };
  };
}

function schemasText(message: FromWorker): number {
  const schemas = message.type === 'report' ? (message.report.schemas ?? []) : [];
  return schemas.reduce((sum, schema) => sum + schema.specJson.length, 0);
}
