import { isJsonObject } from '../../../kube/json-value.js';
import type { JsonValue } from '../../../kube/json-value.js';
import { member } from '../field-access.js';

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
type Operator = (typeof OPERATORS)[number];

export interface LabelRequirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: ReadonlySet<string>;
}

/** All of the requirements; there is at least one. */
export type LabelSelector = readonly LabelRequirement[];

const MAX_REQUIREMENTS = 64;
const MAX_VALUES = 256;

/**
 * Reads a Kubernetes label selector. One without any requirement would select everything there is; nobody agrees to
 * that by accident, so it is read as none.
 *
 * @returns `empty` without requirements, `invalid` where a part is not understood
 */
export function parseLabelSelector(value: JsonValue | undefined): LabelSelector | 'empty' | 'invalid' {
  if (!isJsonObject(value)) return 'invalid';
  if (Object.keys(value).some((key) => key !== 'matchLabels' && key !== 'matchExpressions')) return 'invalid';
  const labels = value['matchLabels'] ?? {};
  const expressions = value['matchExpressions'] ?? [];
  if (!isJsonObject(labels) || !Array.isArray(expressions)) return 'invalid';
  const requirements = [
    ...Object.entries(labels).map(([key, label]) =>
      requirement({ key, operator: 'In', values: [label ?? null] }),
    ),
    ...expressions.map(requirement),
  ];
  if (requirements.length === 0) return 'empty';
  if (requirements.length > MAX_REQUIREMENTS) return 'invalid';
  const sound = requirements.filter((each) => each !== undefined);
  return sound.length === requirements.length ? sound : 'invalid';
}

function requirement(value: JsonValue): LabelRequirement | undefined {
  if (!isJsonObject(value)) return undefined;
  const { key, operator } = value;
  const values = textsOf(value['values'] ?? []);
  if (typeof key !== 'string' || key === '' || key.length > 512) return undefined;
  if (values === undefined || !isOperator(operator)) return undefined;
  const needsValues = operator === 'In' || operator === 'NotIn';
  return needsValues === values.length > 0 ? { key, operator, values: new Set(values) } : undefined;
}

function textsOf(values: JsonValue): readonly string[] | undefined {
  if (!Array.isArray(values) || values.length > MAX_VALUES) return undefined;
  const texts = values.filter((each) => typeof each === 'string');
  return texts.length === values.length ? texts : undefined;
}

function isOperator(value: JsonValue | undefined): value is Operator {
  return OPERATORS.some((operator) => operator === value);
}

/** True where the labels meet every requirement. */
export function matchesLabels(selector: LabelSelector, labels: JsonValue | undefined): boolean {
  return selector.every(({ key, operator, values }) => {
    const found = member(labels, key);
    const present = typeof found === 'string';
    switch (operator) {
      case 'In':
        return present && values.has(found);
      case 'NotIn':
        return !present || !values.has(found);
      case 'Exists':
        return present;
      case 'DoesNotExist':
        return !present;
    }
  });
}
