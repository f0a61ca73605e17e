// Writes docs/reference/plugin-commands.md (`make reference`).
import { writeFile } from 'node:fs/promises';
import { renderReference } from './command-reference.js';
import { createProgram } from './program.js';

const program = createProgram({ invoke: async () => undefined, version: '', writeOut: () => undefined });
await writeFile('docs/reference/plugin-commands.md', renderReference(program));
