import { describe, expect, it } from '@jest/globals';
import { secretsInLog } from './log-secrets.js';

const HEADER = Buffer.from('{"alg":"RS256","kid":"x"}').toString('base64url');
const TOKEN = `${HEADER}.${Buffer.from('{"sub":"somebody"}').toString('base64url')}.c2lnbmF0dXJl`;

describe('the search for credentials in a log', () => {
  it.each([
    ['a token', `{"msg":"GET https://x/?access=${TOKEN}"}`],
    ['a header with credentials', '{"headers":{"Authorization":"Bearer abc"}}'],
    ['a cookie of a login', '{"msg":"sent kube-bind-0a1b2c3d4e=0123456789abcdef"}'],
    ['a private key', '{"err":"-----BEGIN EC PRIVATE KEY-----"}'],
    ['a kubeconfig', '{"msg":"clusters:\\n- cluster:\\n    certificate-authority-data: LS0t"}'],
  ])('finds %s, and does not repeat it', (what, line) => {
    const [found = '', ...more] = secretsInLog(`{"msg":"fine"}\n${line}`);
    expect(more).toEqual([]);
    expect(found).toContain(`line 2 holds ${what}`);
    expect(found).not.toContain(TOKEN);
  });

  it.each(['{"headers":{"authorization":"[redacted]"}}', '{"msg":"the token file is empty","key":"a|b/c"}'])(
    'finds nothing in %s',
    (line) => expect(secretsInLog(line)).toEqual([]),
  );
});
