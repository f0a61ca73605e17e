/**
 * Fetches the published CRDs that the suite `schema` proves itself with, and checks them. They stay where the go command
 * keeps modules: nothing of theirs is copied. e2e/suites/schema/published-crds.json lists them.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const LIST = `${ROOT}/e2e/suites/schema/published-crds.json`;

/**
 * Every CRD of the list with the path of its file: `{ crd, path, ... }`. Downloads what is not there yet, about 100 MB
 * for all; rejects with a list of what is missing or is not what it was.
 */
export async function fetchPublishedCrds() {
  const list = JSON.parse(await readFile(LIST, 'utf8'));
  const modules = [...new Set(list.map(({ module, version }) => `${module}@${version}`))];
  const folders = await download(modules);
  const found = await Promise.all(
    list.map(async (entry) => {
      const name = `${entry.module}@${entry.version}`;
      const folder = folders.get(name);
      if (folder?.Dir === undefined)
        return { problem: `${name} cannot be fetched: ${folder?.Error ?? 'the go command is silent'}` };
      const path = `${folder.Dir}/${entry.file}`;
      const content = await readFile(path).catch(() => undefined);
      if (content === undefined) return { problem: `${name} has no ${entry.file}` };
      const sha256 = createHash('sha256').update(content).digest('hex');
      return sha256 === entry.sha256
        ? { entry: { ...entry, path } }
        : { problem: `${name}/${entry.file} has sha256 ${sha256}, not ${entry.sha256}` };
    }),
  );
  const problems = found.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) throw new Error(`published CRDs are missing:\n${problems.join('\n')}`);
  return found.map(({ entry }) => entry);
}

/** What `go mod download -json` says of each module; it checks them against Go's checksum database, where there is one. */
async function download(modules) {
  const stdout = await new Promise((done, fail) => {
    const args = ['mod', 'download', '-json', ...modules];
    execFile('go', args, { cwd: ROOT, maxBuffer: 16 << 20 }, (error, text) =>
      // It ends with 1 when one of them failed, and says which in its output.
      error !== null && text === '' ? fail(error) : done(text),
    );
  });
  const answers = stdout.trim() === '' ? [] : JSON.parse(`[${stdout.trim().replaceAll('}\n{', '},\n{')}]`);
  return new Map(answers.map((answer) => [`${answer.Path}@${answer.Version}`, answer]));
}
