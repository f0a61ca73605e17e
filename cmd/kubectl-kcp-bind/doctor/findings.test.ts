import { describe, expect, it } from '@jest/globals';
import { checkCertificates } from './certificates.js';
import { checkClock } from './clock.js';
import { checkKcpVersion } from './kcp-version.js';

/** Valid from 2026-11-30 until 2027-01-29. */
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBhzCCAS2gAwIBAgIUKlaScb3fdO1ii/32jR4lezyld6QwCgYIKoZIzj0EAwIw
GTEXMBUGA1UEAwwOdGVzdC1hdXRob3JpdHkwHhcNMjYxMTMwMjIyNTI2WhcNMjcw
MTI5MjIyNTI2WjAZMRcwFQYDVQQDDA50ZXN0LWF1dGhvcml0eTBZMBMGByqGSM49
AgEGCCqGSM49AwEHA0IABGjf+d2sRr1eSb33FFROKmxmHVyqnfPr0y8Ph2vM2GAA
9XhPFR4brn2vN9zDPJQ9wZMOjsCsG3tl+RC5wiGHWsujUzBRMB0GA1UdDgQWBBTm
NXY6++9U9k6SeARw0GsFBgyGejAfBgNVHSMEGDAWgBTmNXY6++9U9k6SeARw0GsF
BgyGejAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIDN1UBWLeY9o
+XH1FDFodIBi+s9aOc8BWBTbBDW/YViLAiEArCDdMazFepv4k6ewIF0Uokq4AhMg
NpFc5lXJc4EdUtg=
-----END CERTIFICATE-----`;

describe('checkClock', () => {
  it.each([
    [0, 'ok'],
    [900, 'ok'],
    [-1900, 'ok'],
    [61_000, 'warning'],
    [-90_000, 'warning'],
    [301_000, 'failed'],
    [-400_000, 'failed'],
  ])('takes a difference of %d ms for %s', (difference, result) => {
    const reading = { of: 'kcp', theirs: 1_000_000 + difference, asked: 1_000_000, answered: 1_000_000 };
    expect(checkClock(reading, 'kcp').result).toBe(result);
  });

  it('does not count the time that the answer took', () => {
    const reading = { of: 'kcp', theirs: 1_000_000, asked: 1_000_000, answered: 1_100_000 };
    expect(checkClock(reading, 'kcp').result).toBe('ok');
  });

  it('looks at nothing where no time was told', () => {
    expect(checkClock(undefined, 'kcp').result).toBe('skipped');
  });
});

describe('checkKcpVersion', () => {
  it.each([
    ['v1.33.3+kcp-v0.28.1', 'ok'],
    ['v1.35.0+kcp-v0.31.0', 'ok'],
    ['v1.36.0+kcp-1.0.0', 'ok'],
    ['v1.32.0+kcp-v0.27.1', 'failed'],
    ['v1.33.3', 'warning'],
    ['', 'warning'],
  ])('takes %s for %s', (gitVersion, result) => {
    expect(checkKcpVersion({ gitVersion }, 'https://kcp').result).toBe(result);
  });

  it.each([null, 'x', [], {}])('wonders about the answer %j', (answer) => {
    expect(checkKcpVersion(answer, 'https://kcp').result).toBe('warning');
  });
});

describe('checkCertificates', () => {
  const at = (day: string) => checkCertificates('ca', 'the CA', CERTIFICATE, Date.parse(day)).result;

  it.each([
    ['2026-11-29', 'failed'],
    ['2026-12-15', 'ok'],
    ['2027-01-20', 'warning'],
    ['2027-02-01', 'failed'],
  ])('on %s says %s', (day, result) => {
    expect(at(`${day}T12:00:00Z`)).toBe(result);
  });

  it.each(['', 'x', '-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----'])('refuses %j', (pem) => {
    expect(checkCertificates('ca', 'the CA', pem, 0).result).toBe('failed');
  });
});
