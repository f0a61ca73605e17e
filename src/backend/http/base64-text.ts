const MAX_ENCODED = 1024 * 1024;

/**
 * Text behind base64 in the standard or the URL-safe alphabet, padded or not; a space counts as `+`, which is what
 * becomes of it in a URL's query. Undefined for anything else: a damaged kubeconfig is worse than none.
 */
export function decodeBase64Text(encoded: string): string | undefined {
  if (encoded.length > MAX_ENCODED) return undefined;
  const standard = encoded
    .replace(/[\r\n]+$/, '')
    .replaceAll(' ', '+')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const digits = standard.replace(/={1,2}$/, '');
  if (digits === '' || !/^[A-Za-z0-9+/]+$/.test(digits) || digits.length % 4 === 1) return undefined;
  // Padding, where there is some, must be the right one.
  if (digits.length !== standard.length && standard.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(digits, 'base64');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
