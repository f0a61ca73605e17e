import fc from 'fast-check';

import type { JsonValue } from '../../src/kube/json-value.js';
import { MORE_PATTERNS } from './join-schemas.js';
import { nodesAt, numberAt, textOf, textsAt, type SchemaNode } from './json-schema-node.js';
import { expression, obeys } from './obeys.js';

/** Valid for the format to every API server; the number makes values of one list differ. */
const BY_FORMAT: Readonly<Record<string, (index: number) => string>> = {
  'date-time': (index) => `2026-01-02T03:04:${two(index)}Z`,
  date: (index) => `2026-01-${two((index % 28) + 1)}`,
  datetime: (index) => `2026-01-02T03:04:${two(index)}Z`,
  duration: (index) => `${index + 1}m30s`,
  byte: (index) => Buffer.from(`bytes ${index}`).toString('base64'),
  email: (index) => `user${index}@example.com`,
  hostname: (index) => `host${index}.example.com`,
  ipv4: (index) => `192.0.2.${index + 1}`,
  ipv6: (index) => `2001:db8::${index + 1}`,
  ip: (index) => `192.0.2.${index + 1}`,
  cidr: (index) => `192.0.${index}.0/24`,
  mac: (index) => `00:00:5e:00:53:${two(index)}`,
  uri: (index) => `https://example.com/${index}`,
  uuid: (index) => `3f2504e0-4f89-41d3-9a0c-0305e82c33${two(index)}`,
  uuid3: (index) => `3f2504e0-4f89-31d3-9a0c-0305e82c33${two(index)}`,
  uuid4: (index) => `3f2504e0-4f89-41d3-9a0c-0305e82c33${two(index)}`,
  uuid5: (index) => `3f2504e0-4f89-51d3-9a0c-0305e82c33${two(index)}`,
  isbn: () => '978-0321751041',
  creditcard: () => '4111111111111111',
  ssn: (index) => `111-22-33${two(index)}`,
  hexcolor: (index) => `#0000${two(index)}`,
  rgbcolor: (index) => `rgb(0,0,${index})`,
  password: (index) => `secret${index}`,
};

/** What patterns of real APIs ask for most. */
const COMMON: readonly ((index: number) => string)[] = [
  (index) => `text-${index}`,
  (index) => `t${index}`,
  (index) => `${index + 1}m`,
  (index) => `${index + 1}h30m`,
  (index) => `${index + 1}Gi`,
  (index) => `${index + 1}`,
  (index) => `host${index}.example.com`,
  (index) => `example.com/name-${index}`,
  (index) => `https://example.com/${index}`,
  (index) => `/path/${index}`,
  (index) => `192.0.2.${index + 1}`,
  (index) => `192.0.${index}.0/24`,
  (index) => `Name${index}`,
  (index) => `NAME_${index}`,
  (index) => `2026-01-02T03:04:${two(index)}Z`,
];

/** Makes texts, and remembers what it found for a pattern, which takes long. */
export class TextMaker {
  readonly #byPattern = new Map<string, readonly string[]>();

  /** A text that obeys the node, in its format where that is known; undefined where none was found. */
  text(node: SchemaNode, index: number): string | undefined {
    const format = formatOf(node);
    const plain = { pattern: node['pattern'], minLength: node['minLength'], maxLength: node['maxLength'] };
    const patterns = textsAt(node, MORE_PATTERNS).map(expression);
    const fits = (text: string) => obeys(plain, text) && patterns.every((pattern) => pattern.test(text));
    const known = BY_FORMAT[format]?.(index);
    if (known !== undefined && fits(known)) return known;
    const common = COMMON.map((make) => make(index)).find(fits);
    if (common !== undefined) return common;
    const least = numberAt(node, 'minLength') ?? 0;
    const most = numberAt(node, 'maxLength') ?? Infinity;
    const long = `${index}x`.padEnd(least, 'x');
    return [long, long.slice(0, most), ...this.#fromPattern(node, index)].find(fits);
  }

  #fromPattern(node: SchemaNode, index: number): readonly string[] {
    const pattern = node['pattern'];
    if (typeof pattern !== 'string') return [];
    const texts =
      this.#byPattern.get(pattern) ??
      fc
        .sample(fc.stringMatching(new RegExp(expression(pattern).source)), { seed: 7, numRuns: 100 })
        .filter((text) => /^[\x20-\x7e]*$/.test(text));
    this.#byPattern.set(pattern, texts);
    const start = index % Math.max(1, texts.length);
    return [...texts.slice(start), ...texts.slice(0, start)];
  }
}

/** The node's format, or the one that its CEL rules ask for in the usual words. */
function formatOf(node: SchemaNode): string {
  const format = node['format'];
  if (typeof format === 'string') return format;
  const rules = textOf(nodesAt(node, 'x-kubernetes-validations')).toLowerCase();
  if (rules.includes('duration(self')) return 'duration';
  return rules.includes('cidr(self') ? 'cidr' : '';
}

/** A number that obeys the node; integers stay within their format. */
export function numberFor(node: SchemaNode, index: number): number | bigint | undefined {
  const minimum = numberAt(node, 'minimum');
  const maximum = numberAt(node, 'maximum');
  const step = numberAt(node, 'multipleOf') ?? 1;
  const start = minimum === undefined ? 0 : Math.ceil(minimum / step) * step;
  const half = node['type'] === 'number' && node['multipleOf'] === undefined ? 0.5 : 0;
  const candidates = [
    start + (index + 1) * step + half,
    start + index * step,
    ...(maximum === undefined ? [] : [maximum - index * step, maximum - half]),
    ...(minimum === undefined ? [] : [minimum + half, minimum]),
    0,
  ];
  const exact = node['minimum'];
  if (typeof exact === 'bigint') return exact + BigInt(index);
  return candidates.find((value) => obeys(node, value));
}

/** A value of `enum`: another one for each index. */
export function enumFor(values: readonly JsonValue[], index: number): JsonValue | undefined {
  const real = values.filter((value) => value !== null && value !== '');
  return (real.length > 0 ? real : values)[index % Math.max(1, real.length)];
}

function two(index: number): string {
  return String(index % 60).padStart(2, '0');
}
