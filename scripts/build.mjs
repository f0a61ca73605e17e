/** Bundles the controller, its worker and the plugin into dist/. Needs nothing but node_modules. */
import { build } from 'esbuild';
import { chmod, readFile, rm } from 'node:fs/promises';

const { version } = JSON.parse(await readFile('package.json', 'utf8'));

/** ESM bundles of packages that call require need one. */
const banner =
  "import { createRequire as __createRequire } from 'node:module';\nconst require = __createRequire(import.meta.url);";

const common = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: true,
  legalComments: 'none',
  logLevel: 'warning',
  define: {
    "process.env['KCP_KUBE_BIND_VERSION']": JSON.stringify(version),
    'process.env.KCP_KUBE_BIND_VERSION': JSON.stringify(version),
  },
};

await rm('dist', { recursive: true, force: true });
await build({
  ...common,
  banner: { js: banner },
  outdir: 'dist/controller',
  entryPoints: { controller: 'cmd/kcp-bind-controller/main.ts', worker: 'src/syncer/worker/main.ts' },
});
await build({
  ...common,
  banner: { js: `#!/usr/bin/env node\n${banner}` },
  outfile: 'dist/plugin/kubectl-kcp-bind',
  entryPoints: ['cmd/kubectl-kcp-bind/main.ts'],
  sourcemap: false,
  // Less text to parse at every start; names stay, so that a stack still tells something.
  minifyWhitespace: true,
  minifySyntax: true,
});
await chmod('dist/plugin/kubectl-kcp-bind', 0o755);
