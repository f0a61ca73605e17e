import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

/** An authority with a server certificate for the given names, a client certificate, and a second authority. */
export interface TestCertificates {
  readonly ca: string;
  readonly server: KeyPair;
  readonly client: KeyPair;
  /** Signed none of the above. */
  readonly otherCa: string;
}

/** @param names subject alternative names, such as `DNS:kube.test` or `IP:127.0.0.1` */
export function makeCertificates(names: readonly string[]): TestCertificates {
  const directory = mkdtempSync(join(tmpdir(), 'kube-certs-'));
  const file = (name: string): string => join(directory, name);
  const openssl = (...parts: string[]): void => {
    execFileSync('openssl', parts, { cwd: directory, stdio: 'pipe' });
  };
  const authority = (name: string): void =>
    openssl(
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
      ...['-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.crt`],
    );
  const signed = (name: string, extensions: string): KeyPair => {
    writeFileSync(file(`${name}.ext`), extensions);
    openssl(
      ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', `/CN=${name}`],
      ...['-keyout', `${name}.key`, '-out', `${name}.csr`],
    );
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
      ...['-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.crt`],
    );
    return { cert: read(`${name}.crt`), key: read(`${name}.key`) };
  };
  const read = (name: string): string => readFileSync(file(name), 'utf8');
  try {
    authority('ca');
    authority('other-ca');
    return {
      ca: read('ca.crt'),
      otherCa: read('other-ca.crt'),
      server: signed('server', `subjectAltName=${names.join(',')}\n`),
      client: signed('client', 'extendedKeyUsage=clientAuth\n'),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
