import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { BINDING_REASONS, CONNECTION_REASONS } from './conditions.js';

/** Reasons of each condition in a part of the reference. */
function documented(part: string): Record<string, string[]> {
  const reasons: Record<string, string[]> = {};
  for (const section of part.split('### Condition `').slice(1)) {
    const type = section.slice(0, section.indexOf('`'));
    reasons[type] = [...section.matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1] ?? '');
  }
  return reasons;
}

describe('docs/reference/api.md', () => {
  const [, connection = '', binding = ''] = readFileSync('docs/reference/api.md', 'utf8').split(
    /^## KubeBind/m,
  );

  it.each([
    ['KubeBindConnection', connection, CONNECTION_REASONS],
    ['KubeBindBinding', binding, BINDING_REASONS],
  ])('lists every reason of %s and no other', (_, part, reasons) => {
    const sorted = (lists: Record<string, readonly string[]>) =>
      Object.fromEntries(Object.entries(lists).map(([type, list]) => [type, [...list].sort()]));
    expect(sorted(documented(part))).toEqual(sorted(reasons));
  });
});
