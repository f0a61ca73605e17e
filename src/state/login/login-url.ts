/** The two parts of a login URL's last segment, `<state name>.<id>`. */
export interface LoginTarget {
  readonly stateName: string;
  /** 128 random bits, base64url. */
  readonly id: string;
}

const TARGET = /^(connection-[0-9a-f]{20})\.([A-Za-z0-9_-]{22})$/;

/**
 * Address of a login page: `<external URL>/login/<state name>.<id>`. The plugin opens it with
 * `?verifier=<verifier>` (and `&pick=terminal` when it picks from the offers itself).
 */
export function loginUrl(externalUrl: string, stateName: string, id: string): string {
  return `${withoutSlash(externalUrl)}/login/${stateName}.${id}`;
}

/** Takes a login URL's last segment apart; undefined for anything else. */
export function parseLoginTarget(segment: string): LoginTarget | undefined {
  const [, stateName, id] = TARGET.exec(segment) ?? [];
  return stateName === undefined || id === undefined ? undefined : { stateName, id };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
