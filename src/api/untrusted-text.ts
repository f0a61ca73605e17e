/** Controls, line and paragraph separators, and marks that change the direction of text around them. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/g;

/**
 * Text that a provider, a backend or a tenant wrote, made fit for messages, status and logs: one line, no control
 * or direction characters, no lone surrogates, at most `maxLength` UTF-16 units (an ellipsis counted). Anything but
 * a string gives the empty string.
 */
export function untrustedText(value: unknown, maxLength: number): string {
  if (typeof value !== 'string') return '';
  // Cutting first bounds the work on a text of megabytes; the rest can only get shorter.
  const line = value
    .slice(0, maxLength * 4)
    .replace(UNSAFE, ' ')
    .replace(/[\ud800-\udfff]/gu, '\ufffd')
    .trim();
  if (line.length <= maxLength && value.length <= maxLength * 4) return line;
  return `${line.slice(0, Math.max(0, maxLength - 1)).replace(/[\ud800-\udbff]$/, '')}…`;
}
