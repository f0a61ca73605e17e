import type { ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';
import type { BoundSchemaRead } from '../../backend/provider/bound-schemas.js';
import { convertBoundSchema, type ConversionOptions } from '../../schema/convert.js';
import { MAX_SCHEMAS_TEXT, MESSAGE_LIMITS } from '../protocol/limits.js';
import type { ConvertedSchema } from '../protocol/report.js';

export interface SchemaOutcome {
  readonly condition: ConditionState;
  /** Those that kcp can serve: one that it cannot serve holds back none of the others. */
  readonly schemas: readonly ConvertedSchema[];
  /** False: something is missing or refused, and worth reading again soon. */
  readonly complete: boolean;
}

interface Refused {
  readonly reason: string;
  readonly text: string;
}

const MAX_MESSAGE = 3000;

/** Converts the bound schemas of an export for kcp and says what came of it. Pure. */
export function schemaOutcome(
  reads: readonly BoundSchemaRead[],
  options: ConversionOptions = {},
): SchemaOutcome {
  const schemas: ConvertedSchema[] = [];
  const missing: string[] = [];
  const refused: Refused[] = [];
  let total = 0;
  for (const read of reads) {
    if ('problem' in read) {
      if (read.problem === 'Missing') missing.push(read.name);
      else refused.push({ reason: 'Unsupported', text: `${read.name}: its schema describes another API` });
      continue;
    }
    const result = convertBoundSchema(read.object, options);
    if (result.ok) {
      total += result.schema.specJson.length;
      if (total <= MAX_SCHEMAS_TEXT && schemas.length < MESSAGE_LIMITS.schemas) schemas.push(result.schema);
      else
        refused.push({
          reason: 'TooLarge',
          text: `${read.name}: the schemas of one binding are too large together`,
        });
    } else refused.push({ reason: result.reason, text: `${read.name} (${result.path}): ${result.message}` });
  }
  return { schemas, complete: missing.length + refused.length === 0, condition: condition(missing, refused) };
}

function condition(missing: readonly string[], refused: readonly Refused[]): ConditionState {
  const [first] = refused;
  if (first !== undefined) {
    const list = refused.map(({ text }) => text).join('; ');
    return {
      status: 'False',
      reason: first.reason,
      message: untrustedText(`kcp cannot serve ${list}. Ask the provider to change the schema.`, MAX_MESSAGE),
    };
  }
  if (missing.length > 0) {
    return {
      status: 'False',
      reason: 'Pending',
      message: untrustedText(`The provider has no BoundSchema ${missing.join(', ')} yet.`, MAX_MESSAGE),
    };
  }
  return { status: 'True', reason: 'InSync', message: 'The schemas are those of the provider.' };
}
