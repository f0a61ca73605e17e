import { describe, expect, it } from '@jest/globals';
import { connectionStateName } from '../../api/names.js';
import { loginUrl, parseLoginTarget } from './login-url.js';
import { startLogin } from './start-login.js';

const random = (bytes: number) => Uint8Array.from({ length: bytes }, (_, i) => 255 - i);

describe('loginUrl', () => {
  const stateName = connectionStateName('1abc', 'u-1');
  const { id } = startLogin({ clock: { now: () => 0 }, random });

  it.each([
    ['https://bind.example.com', 'https://bind.example.com/login/'],
    ['https://bind.example.com/', 'https://bind.example.com/login/'],
    ['https://example.com/kube/bind/', 'https://example.com/kube/bind/login/'],
  ])('keeps the path prefix of %s', (external, start) => {
    expect(loginUrl(external, stateName, id)).toBe(`${start}${stateName}.${id}`);
  });

  it('is taken apart again', () => {
    const segment = loginUrl('https://x', stateName, id).split('/').at(-1) ?? '';
    expect(parseLoginTarget(segment)).toEqual({ stateName, id });
  });

  it.each([
    '',
    'connection-x.y',
    stateName,
    `${stateName}.${id}x`,
    `../${stateName}.${id}`,
    `${stateName}.${id}\n`,
  ])('takes nothing else: %p', (segment) => expect(parseLoginTarget(segment)).toBeUndefined());
});
