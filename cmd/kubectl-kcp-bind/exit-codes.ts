/**
 * Exit codes of the plugin. They are part of its interface (docs/reference/plugin.md): scripts depend on
 * them, so a number is never given another meaning.
 */
export const EXIT_CODES = {
  ok: 0,
  internal: 1,
  usage: 2,
  kubeconfig: 3,
  forbidden: 4,
  unreachable: 5,
  provider: 6,
  conflict: 7,
  timeout: 8,
  login: 9,
  notFound: 10,
  notReady: 11,
  declined: 12,
  notInstalled: 13,
  passthrough: 127,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];
