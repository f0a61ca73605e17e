/**
 * Bundles the controller, its worker and the plugin into dist/. Needs nothing but node_modules.
 * `--plugin FILE` builds only the plugin, into that file.
 */
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

/** One file, whatever is imported lazily included; it is not evaluated before it is needed. */
async function buildPlugin(outfile) {
  await build({
    ...common,
    banner: { js: `#!/usr/bin/env node\n${banner}` },
    outfile,
    entryPoints: ['cmd/kubectl-kcp-bind/main.ts'],
    sourcemap: false,
    // Less text to parse at every start; names stay, so that a stack still tells something.
    minifyWhitespace: true,
    minifySyntax: true,
  });
  await chmod(outfile, 0o755);
}

const [mode, file] = process.argv.slice(2);
if (mode === '--plugin' && file !== undefined) await buildPlugin(file);
else {
  await rm('dist', { recursive: true, force: true });
  await build({
    ...common,
    banner: { js: banner },
    outdir: 'dist/controller',
    entryPoints: { controller: 'cmd/kcp-bind-controller/main.ts', worker: 'src/syncer/worker/main.ts' },
  });
  await buildPlugin('dist/plugin/kubectl-kcp-bind');
}
