/** What a credential looks like, wherever it is quoted. The controller's log has none of it, in any run of any suite. */
const SECRETS: readonly (readonly [what: string, RegExp])[] = [
  ['a token', /eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/],
  ['a header with credentials', /"?\b(authorization|cookie)"?:\s*(?!"?\[redacted\])"?\w/i],
  ['a cookie of a login', /\bkube-bind-[0-9a-z]{8,}=[\w.-]{8,}/],
  ['a private key', /PRIVATE KEY-----/],
  ['a kubeconfig', /client-key-data|certificate-authority-data|"?users"?:\s*\[?\s*\{?-?\s*"?(name|user)"?:/],
];

/** Lines of a log that hold a credential, each with what it is; the line is cut, so that a report tells no secret. */
export function secretsInLog(log: string): string[] {
  return log.split('\n').flatMap((line, index) =>
    SECRETS.flatMap(([what, pattern]) => {
      const at = line.search(pattern);
      return at < 0
        ? []
        : [`line ${index + 1} holds ${what}: …${line.slice(Math.max(0, at - 80), at + 12)}…`];
    }),
  );
}
