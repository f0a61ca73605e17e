import { readFile } from 'node:fs/promises';

import { describe, expect, it } from '@jest/globals';
import { parseAllDocuments } from 'yaml';

import type { JsonObject } from '../../src/kube/json-value.js';
import { readRights, RIGHTS } from './rights.js';

interface Rule {
  apiGroups?: string[];
  resources?: string[];
  verbs: string[];
  resourceNames?: string[];
}

const review = (resourceRules: Rule[], incomplete = false): JsonObject => ({
  status: { resourceRules: resourceRules.map((rule) => ({ ...rule })), incomplete },
});

async function installedRules(): Promise<Rule[]> {
  const text = await readFile(new URL('../../apiexport/controller.yaml', import.meta.url), 'utf8');
  const objects = parseAllDocuments(text).map((each) => each.toJS() as { rules?: Rule[] });
  return objects.flatMap(({ rules }) => rules ?? []);
}

const granted: Rule[] = RIGHTS.map(({ group, resource, verbs }) => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [...verbs],
}));

describe('the rights that the controller asks for', () => {
  it('are those that apiexport/controller.yaml grants, and no more', async () => {
    const listed = (await installedRules()).flatMap(({ apiGroups = [], resources = [], verbs }) =>
      apiGroups.flatMap((group) =>
        resources.map((resource) => `${group}/${resource} ${[...verbs].sort().join()}`),
      ),
    );
    const wanted = RIGHTS.map(
      ({ group, resource, verbs }) => `${group}/${resource} ${[...verbs].sort().join()}`,
    );
    expect(listed.sort()).toEqual(wanted.sort());
  });
});

describe('readRights', () => {
  it('is content with exactly what is needed', () => {
    expect(readRights(review(granted))).toEqual({ kind: 'complete' });
  });

  it.each([['everything', { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]])(
    'is content with %s',
    (_, rule) => {
      expect(readRights(review([rule]))).toEqual({ kind: 'complete' });
    },
  );

  it.each(RIGHTS.map(({ group, resource }) => [group, resource] as const))(
    'names what is missing when the rule for %s %s is not there',
    (group, resource) => {
      const rules = granted.filter((rule) => rule.resources?.[0] !== resource);
      const answer = readRights(review(rules));
      expect(answer).toEqual({
        kind: 'missing',
        missing: [expect.stringContaining(group === '' ? ` ${resource}` : ` ${resource}.${group}`)],
      });
    },
  );

  it('names only the verbs that are missing', () => {
    const rules = granted.map((rule) =>
      rule.resources?.[0] === 'leases' ? { ...rule, verbs: ['get'] } : rule,
    );
    expect(readRights(review(rules))).toEqual({
      kind: 'missing',
      missing: ['create,update leases.coordination.k8s.io'],
    });
  });

  it('counts no rule that is for some names only', () => {
    const rules = granted.map((rule) =>
      rule.resources?.[0] === 'leases' ? { ...rule, resourceNames: ['one'] } : rule,
    );
    expect(readRights(review(rules))).toMatchObject({ kind: 'missing' });
  });

  it.each([
    ['is incomplete', review([], true)],
    ['is no review', { kind: 'Status' }],
    ['is no object', 'text'],
  ])('says nothing from an answer that %s', (_, answer) => {
    expect(readRights(answer)).toEqual({ kind: 'unknown' });
  });
});
