/** The build's version; the bundler replaces the expression by a text. */
export const VERSION = process.env['KCP_KUBE_BIND_VERSION'] ?? '0.0.0-dev';
