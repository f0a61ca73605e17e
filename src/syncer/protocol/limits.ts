/** Largest text of one converted schema in a report, in characters; kcp itself takes no larger object. */
export const MAX_SCHEMA_TEXT = 2 * 1024 * 1024;

/** Text of all schemas of one report together. */
export const MAX_SCHEMAS_TEXT = 8 * 1024 * 1024;

/**
 * Bounds of everything that a worker says. A worker speaks with servers that tenants and providers name, so
 * its messages are checked like anything else from outside. Lengths in characters.
 */
export const MESSAGE_LIMITS = {
  /** Names, keys, UIDs, reasons. */
  name: 512,
  /** Texts for people. */
  message: 4096,
  schemas: 100,
  versions: 100,
  claims: 100,
  selector: 1024,
  remaining: 100,
  namespaces: 20_000,
  /** PEM of an authority or a client certificate; a token. */
  credential: 256 * 1024,
  /** JSON of a worker's metrics. */
  metrics: 512 * 1024,
} as const;
