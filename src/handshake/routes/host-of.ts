/** Host and port of a URL, in the letters that a domain name really has. */
export function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : url;
}
