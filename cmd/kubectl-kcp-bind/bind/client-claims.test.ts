import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import type { ApiBinding } from '../typed-objects.js';
import { answerClaims, reviewClaims, SHIPPED_CLAIMS, withoutStars } from './client-claims.js';

function apiBinding(init: object): ApiBinding {
  return { metadata: { name: 'x' }, spec: {}, ...init } as ApiBinding;
}

describe('the client’s permission claims', () => {
  it('that the plugin knows are those of the shipped export', () => {
    const shipped = parse(readFileSync('apiexport/apiexport.yaml', 'utf8')) as {
      spec: { permissionClaims: unknown };
    };
    expect(SHIPPED_CLAIMS).toEqual(shipped.spec.permissionClaims);
  });

  it('are all accepted, apibindings only when the user lets it', () => {
    const states = (apiBindings: boolean): string[] =>
      answerClaims(SHIPPED_CLAIMS, { apiBindings })
        .filter(({ state }) => state === 'Rejected')
        .map(({ resource }) => resource);
    expect(states(true)).toEqual([]);
    expect(states(false)).toEqual(['apibindings']);
  });

  it('are compared with what the bound export asks for', () => {
    const answered = answerClaims([{ group: '', resource: 'secrets' }, { resource: 'events' }], {
      apiBindings: true,
    });
    const review = reviewClaims(
      apiBinding({
        spec: { permissionClaims: [{ ...answered[0], state: 'Rejected' }, answered[1]] },
        status: {
          exportPermissionClaims: [{ resource: 'secrets' }, { resource: 'namespaces', identityHash: '' }],
        },
      }),
    );
    expect(review.unanswered.map(({ resource }) => resource)).toEqual(['namespaces']);
    expect(review.superfluous.map(({ resource }) => resource)).toEqual(['events']);
    expect(review.rejected.map(({ resource }) => resource)).toEqual(['secrets']);
  });

  it('that are accepted with * get the verbs that are asked for; the others stay as they are', () => {
    const selector = { matchAll: true };
    const answer = (resource: string, verbs: string[], state = 'Accepted') => ({
      group: '',
      resource,
      verbs,
      state,
      selector,
    });
    const bound = (claims: object[]) =>
      apiBinding({
        spec: { permissionClaims: claims },
        status: {
          exportPermissionClaims: ['secrets', 'events', 'namespaces'].map((resource) => ({
            resource,
            verbs: ['get'],
          })),
        },
      });
    const rest = [answer('events', ['get']), answer('namespaces', ['*'], 'Rejected')];
    expect(withoutStars(bound([answer('secrets', ['*']), ...rest]))).toEqual([
      answer('secrets', ['get']),
      ...rest,
    ]);
    expect(withoutStars(bound(rest))).toBeUndefined();
  });
});
