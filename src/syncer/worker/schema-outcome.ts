import type { ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';
import type { BoundSchemaRead } from '../../backend/provider/bound-schemas.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import { convertBoundSchema } from '../../schema/convert.js';
import { MAX_SCHEMAS_TEXT, MESSAGE_LIMITS } from '../protocol/limits.js';
import type { ConvertedSchema } from '../protocol/report.js';

export interface SchemaOutcome {
  readonly condition: ConditionState;
  /** Those that kcp can serve: one that it cannot serve holds back none of the others. */
  readonly schemas: readonly ConvertedSchema[];
  /** False: something is missing or refused, and worth reading again soon. */
  readonly complete: boolean;
  /** RFC 3339: when the last of them was written. */
  readonly writtenAt?: string;
}

interface Refused {
  readonly reason: string;
  readonly text: string;
}

const MAX_MESSAGE = 3000;
/** Of all schemas together: enough to see what kind of thing was left out. */
const MAX_NOTES = 10;
const MAX_MANAGERS = 64;
/** As API servers write it. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Converts the bound schemas of an export for kcp and says what came of it. Pure. */
export function schemaOutcome(reads: readonly BoundSchemaRead[]): SchemaOutcome {
  const schemas: ConvertedSchema[] = [];
  const missing: string[] = [];
  const refused: Refused[] = [];
  const reduced: string[] = [];
  let total = 0;
  for (const read of reads) {
    if ('problem' in read) {
      if (read.problem === 'Missing') missing.push(read.name);
      else refused.push({ reason: 'Unsupported', text: `${read.name}: its schema describes another API` });
      continue;
    }
    const result = convertBoundSchema(read.object);
    if (result.ok) {
      total += result.schema.specJson.length;
      if (total <= MAX_SCHEMAS_TEXT && schemas.length < MESSAGE_LIMITS.schemas) {
        schemas.push(result.schema);
        reduced.push(...result.notes.map((note) => `${read.name}: ${note}`));
      } else
        refused.push({
          reason: 'TooLarge',
          text: `${read.name}: the schemas of one binding are too large together`,
        });
    } else refused.push({ reason: result.reason, text: `${read.name} (${result.path}): ${result.message}` });
  }
  const [writtenAt] = reads
    .flatMap((read) => ('object' in read ? (writeTime(read.object) ?? []) : []))
    .sort()
    .reverse();
  return {
    schemas,
    complete: missing.length + refused.length === 0,
    condition: withNotes(condition(missing, refused), reduced),
    ...(writtenAt === undefined ? {} : { writtenAt }),
  };
}

/** Last write to anything but status. */
function writeTime({ metadata }: KubeObject): string | undefined {
  const { managedFields, creationTimestamp } = metadata;
  const times = (Array.isArray(managedFields) ? managedFields.slice(0, MAX_MANAGERS) : [])
    .filter(isJsonObject)
    .filter((entry) => entry['subresource'] === undefined)
    .map((entry) => entry['time']);
  return [...times, creationTimestamp]
    .filter((time): time is string => typeof time === 'string' && TIME.test(time))
    .sort()
    .at(-1);
}

/** What is served in a reduced form is said whatever else there is to say. */
function withNotes(plain: ConditionState, reduced: readonly string[]): ConditionState {
  if (reduced.length === 0) return plain;
  const more = reduced.length > MAX_NOTES ? ` (and ${reduced.length - MAX_NOTES} more)` : '';
  const notes = `Served in a reduced form: ${reduced.slice(0, MAX_NOTES).join('; ')}${more}.`;
  return { ...plain, message: untrustedText(`${plain.message} ${notes}`, MAX_MESSAGE) };
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
