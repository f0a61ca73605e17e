import picocolors from 'picocolors';

/** The few styles that the plugin uses; identities where colour is not wanted. */
export interface Colors {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly strong: (text: string) => string;
}

/** Styles for a terminal that takes colour (`enabled`), or none. */
export function createColors(enabled: boolean): Colors {
  const colors = picocolors.createColors(enabled);
  return { good: colors.green, bad: colors.red, dim: colors.dim, strong: colors.bold };
}
