/**
 * What may never reach a log, wherever it hides in a line: JSON Web Tokens, bearer headers, and the query
 * parameters and fields that carry secrets in a handshake.
 */
const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/eyJ[\w-]{4,}\.[\w-]{4,}\.[\w-]*/g, '[token]'],
  [/\b(Bearer|Basic)(\s+|%20|\+)[\w.~+/=-]+/gi, '$1 [token]'],
  [
    /\b(access_token|id_token|refresh_token|token|verifier|user_code|session_id|nonce|n)=[^&\s"'<>\\]+/gi,
    '$1=[secret]',
  ],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g, '[private key]'],
];

/** Returns the text without anything that looks like a credential. Cheap on text that holds none. */
export function scrub(text: string): string {
  let clean = text;
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  return clean;
}
