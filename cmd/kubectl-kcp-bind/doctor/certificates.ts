import { X509Certificate } from 'node:crypto';
import { printable } from '../output/printable.js';
import { failed, ok, warning, type Check } from './check.js';

const DAY_MS = 86_400_000;
const SOON_MS = 14 * DAY_MS;

/**
 * Looks at the dates of PEM certificates.
 *
 * @param name of the check
 * @param what for people: `the kubeconfig's certificate-authority`
 */
export function checkCertificates(name: string, what: string, pem: string, now: number): Check {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  const parsed = blocks.map(parse);
  if (blocks.length === 0 || parsed.includes(undefined)) {
    return failed(name, `${what} holds no PEM certificate that can be read`, `replace ${what}`);
  }
  const certificates = parsed.filter((one) => one !== undefined);
  const early = certificates.find((one) => Date.parse(one.validFrom) > now);
  if (early !== undefined) {
    return failed(
      name,
      `${what} is not valid before ${early.validFrom} (${subject(early)})`,
      'check the clock of this machine, else have the certificate made again',
    );
  }
  const ends = certificates.map((one) => Date.parse(one.validTo));
  const alive = ends.filter((end) => end > now);
  // One of several authorities may be an old one.
  if (alive.length === 0) {
    return failed(name, `${what} has expired (${subject(certificates[0])})`, `replace ${what}`);
  }
  const first = Math.max(...alive);
  if (first - now < SOON_MS) {
    const days = Math.floor((first - now) / DAY_MS);
    return warning(name, `${what} ends in ${days} days`, `have ${what} renewed`);
  }
  return ok(name, `${what}: good until ${new Date(first).toISOString().slice(0, 10)}`);
}

function parse(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}

function subject(certificate: X509Certificate | undefined): string {
  return printable((certificate?.subject ?? '').replaceAll('\n', ', '), 120);
}
