import { mkdir } from 'node:fs/promises';

import { runDemo } from './demo.js';
import { Narrator } from './narrator.js';

/**
 * `make demo`. KEEP=1 leaves everything running. Each run has a folder and ports of its own, so several can
 * stand beside each other.
 */
const dir = `${process.cwd()}/.run/demo-${process.pid}`;
await mkdir(dir, { recursive: true });
const narrator = new Narrator((text) => process.stdout.write(`${text}\n`), process.stdout.isTTY);
process.exitCode = await runDemo({ dir, narrator, keep: process.env['KEEP'] === '1' });
