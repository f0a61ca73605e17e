/** What the doctor found out about one thing. */
export interface Check {
  /** Stable, for programs: `kcp-version`, `clock`, … */
  readonly name: string;
  /** `skipped`: it could not be looked at, and `message` says why. */
  readonly result: 'ok' | 'warning' | 'failed' | 'skipped';
  /** One line: what was found. */
  readonly message: string;
  /** One line: what to do. Always there with `warning` and `failed`. */
  readonly remedy?: string;
}

export function ok(name: string, message: string): Check {
  return { name, result: 'ok', message };
}

export function skipped(name: string, message: string): Check {
  return { name, result: 'skipped', message };
}

export function warning(name: string, message: string, remedy: string): Check {
  return { name, result: 'warning', message, remedy };
}

export function failed(name: string, message: string, remedy: string): Check {
  return { name, result: 'failed', message, remedy };
}
