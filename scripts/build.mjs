/**
 * Bundles the controller, its worker and the plugin into dist/. Needs nothing but node_modules.
 * `--plugin FILE` builds only the plugin, into that file.
 */
import { build } from 'esbuild';
import { chmod, readdir, readFile } from 'node:fs/promises';

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

/** What `kubectl apply -k apiexport` applies, for `kubectl kcp bind install`. */
async function readManifests() {
  const texts = [];
  for (const folder of ['apiresourceschemas', 'apiexport']) {
    for (const name of (await readdir(folder)).sort()) {
      if (name.endsWith('.yaml') && name !== 'kustomization.yaml')
        texts.push(await readFile(`${folder}/${name}`, 'utf8'));
    }
  }
  return texts.join('\n---\n');
}

/**
 * One file, whatever is imported lazily included; nothing is evaluated before it is needed, node's own modules
 * neither (as an ES module it would load all of them at every start). It has no extension, so that node takes it
 * for CommonJS or for an ES module by the package.json of the folder where a user puts it: it has to be both.
 */
async function buildPlugin(outfile) {
  const manifests = await readManifests();
  await build({
    ...common,
    format: 'cjs',
    banner: {
      js: "#!/usr/bin/env node\nvar require = process.getBuiltinModule('node:module').createRequire(process.argv[1]);",
    },
    define: {
      ...common.define,
      'import.meta.url': 'undefined',
      "process.env['KCP_KUBE_BIND_MANIFESTS']": JSON.stringify(manifests),
      'process.env.KCP_KUBE_BIND_MANIFESTS': JSON.stringify(manifests),
    },
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
  await build({
    ...common,
    banner: { js: banner },
    outdir: 'dist/controller',
    entryPoints: { controller: 'cmd/kcp-bind-controller/main.ts', worker: 'src/syncer/worker/main.ts' },
  });
  await buildPlugin('dist/plugin/kubectl-kcp-bind');
}
