/**
 * Writes src/api/generated from apiresourceschemas/: the TypeScript types of our kinds. `--check` writes nothing and fails where a file would change.
 */
import { compile } from 'json-schema-to-typescript';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';

const check = process.argv.includes('--check');
const header = '// Generated from apiresourceschemas/ by `make generate`. Do not edit.\n';
const outputs = new Map();

for (const file of (await readdir('apiresourceschemas')).sort()) {
  const document = parse(await readFile(`apiresourceschemas/${file}`, 'utf8'));
  if (document.kind !== 'APIResourceSchema') continue;
  const { names, versions } = document.spec;
  const schema = versions.find((version) => version.storage).schema;
  const base = names.singular;
  const closed = close(schema);
  const types = await compile(closed, names.kind, { bannerComment: '', additionalProperties: false });
  outputs.set(`src/api/generated/${base}.ts`, `${header}\n${types}`);
}

/** A structural schema prunes what it does not list: the types say the same. `metadata` stays open. */
function close(node, path = []) {
  const copy = { ...node };
  delete copy.title;
  if (copy.properties) {
    copy.properties = Object.fromEntries(
      Object.entries(copy.properties).map(([key, value]) => [key, close(value, [...path, key])]),
    );
  }
  if (copy.items) copy.items = close(copy.items, [...path, '*']);
  if (copy.maxItems) delete copy.maxItems;
  if (copy.minItems) delete copy.minItems;
  if (copy.type === 'object') {
    copy.additionalProperties = path.join('.') === 'metadata';
  }
  return copy;
}

let stale = 0;
await mkdir('src/api/generated', { recursive: true });
for (const [file, text] of outputs) {
  const current = await readFile(file, 'utf8').catch(() => '');
  if (current === text) continue;
  if (check) {
    console.error(`${file} is not what apiresourceschemas/ generates: run \`make generate\``);
    stale += 1;
  } else await writeFile(file, text);
}
process.exitCode = stale === 0 ? 0 : 1;
