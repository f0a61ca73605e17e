import { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from './logger.js';
import { scrub } from './scrub.js';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl';

function capture() {
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  return { lines, destination };
}

describe('createLogger', () => {
  it.each([
    ['a token at the top', { token: 'tok-1' }],
    ['a nested token', { credentials: { auth: { kind: 'token', token: 'tok-1' } } }],
    ['a private key', { auth: { cert: 'c', key: 'tok-1' } }],
    ['a cookie header', { headers: { cookie: 'tok-1' } }],
    ['set-cookie', { headers: { 'set-cookie': 'tok-1' } }],
    ['an identity', { request: { spec: { identity: 'tok-1' } } }],
    ['a URL with a token', { url: 'http://x/callback?access_token=tok-1&n=2' }],
    ['an error that quotes a header', { err: new Error('failed: Authorization: Bearer tok-1') }],
  ])('writes no %s', (_name, fields) => {
    const { lines, destination } = capture();
    createLogger({ level: 'info', destination }).info(fields, 'said');
    expect(lines.join('')).toContain('"msg":"said"');
    expect(lines.join('')).not.toContain('tok-1');
  });

  it('keeps work item keys at the top level', () => {
    const { lines, destination } = capture();
    createLogger({ level: 'info', destination }).info({ key: 'c1/default/cheddar' }, 'synced');
    expect(lines.join('')).toContain('c1/default/cheddar');
  });

  it('writes no token that stands in a message or an error cause', () => {
    const { lines, destination } = capture();
    const log = createLogger({ level: 'info', destination });
    log.error({ err: new Error('outer', { cause: new Error(`got ${JWT}`) }) }, `refused ${JWT}`);
    expect(lines.join('')).not.toContain('eyJzdWIiOiJ4In0');
    expect(() => JSON.parse(lines.join('')) as unknown).not.toThrow();
  });

  it('leaves each line valid JSON after scrubbing', () => {
    const { lines, destination } = capture();
    createLogger({ level: 'info', destination }).info(
      { url: 'http://x/?verifier=abc"def\\x&b=1' },
      'n=1 "q"',
    );
    expect(() => JSON.parse(lines.join('')) as unknown).not.toThrow();
  });
});

describe('scrub', () => {
  it('leaves ordinary text alone', () => {
    const text = 'binding c1/cheese: 3 objects, reason=ProviderForbidden, codes [1,2]';
    expect(scrub(text)).toBe(text);
  });

  it('hides handshake parameters in any position', () => {
    expect(scrub('/login/x?verifier=aaa&n=bbb')).toBe('/login/x?verifier=[secret]&n=[secret]');
  });
});
