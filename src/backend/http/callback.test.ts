import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseCallback } from './callback.js';

function jwt(claims: unknown): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${encode({ alg: 'RS256' })}.${encode(claims)}.c2lnbmF0dXJl`;
}

describe('parseCallback', () => {
  it('reads a token with all that ties it to its login', () => {
    const token = jwt({ sid: 'session-1' });
    const query = {
      access_token: token,
      token_type: 'Bearer',
      expires_in: '86400',
      nonce: 'n',
      cluster_id: 'c',
    };
    expect(parseCallback(query)).toEqual({
      kind: 'token',
      token,
      expiresInSeconds: 86_400,
      nonce: 'n',
      clusterID: 'c',
      sessionId: 'session-1',
    });
  });

  it('gets by with a token alone', () => {
    expect(parseCallback({ access_token: 'abc' })).toEqual({ kind: 'token', token: 'abc' });
  });

  it.each(['x', '-1', '0', '1.5', '', ['1', '2']])('ignores expires_in %p', (value) => {
    expect(parseCallback({ access_token: 'abc', expires_in: value })).toEqual({
      kind: 'token',
      token: 'abc',
    });
  });

  it('reports an error of the login, also when there is a token', () => {
    const query = {
      error: 'access_denied',
      error_description: 'x<script>\n\u202e',
      access_token: 'abc',
      nonce: 'n',
    };
    expect(parseCallback(query)).toEqual({
      kind: 'failure',
      error: 'access_denied',
      description: 'x<script>',
      nonce: 'n',
    });
  });

  it('cuts what the query says about an error', () => {
    const failure = parseCallback({ error: 'e'.repeat(5000), error_description: 'd'.repeat(5000) });
    expect(failure).toMatchObject({
      error: expect.stringMatching(/^e{99}…$/),
      description: expect.stringMatching(/^d{499}…$/),
    });
    expect(parseCallback({ error: ['a', 'b'] })).toMatchObject({ error: 'unknown_error', description: '' });
  });

  it.each([
    ['nothing', {}],
    ['an empty token', { access_token: '' }],
    ['two tokens', { access_token: ['a', 'b'] }],
    ['a token that would split a header', { access_token: 'a\r\nx: y' }],
    ['a token of another alphabet', { access_token: 'ä' }],
    ['a token that is too long', { access_token: 'x'.repeat(16_385) }],
    ['another type of token', { access_token: 'abc', token_type: 'mac' }],
  ])('takes %s for no login', (_, query) => {
    expect(parseCallback(query)).toMatchObject({ kind: 'failure', error: 'invalid_callback' });
  });

  it.each(['a.b.c', jwt(null), jwt({ sid: 7 }), jwt([]), `x.${Buffer.from('{').toString('base64url')}.y`])(
    'finds no session in token %s',
    (token) => {
      expect(parseCallback({ access_token: token })).toEqual({ kind: 'token', token });
    },
  );

  it('never throws, and never gives a token that a header cannot hold', () => {
    const key = fc.constantFrom(
      'access_token',
      'token_type',
      'expires_in',
      'error',
      'error_description',
      'nonce',
      '__proto__',
    );
    fc.assert(
      fc.property(fc.dictionary(key, fc.anything()), (query) => {
        const result = parseCallback(query);
        if (result.kind === 'token') expect(result.token).toMatch(/^[!-~]+$/);
        else expect(result.error).not.toBe('');
      }),
    );
  });
});
