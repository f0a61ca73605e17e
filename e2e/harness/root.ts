import { resolve } from 'node:path';

/** The checkout's root: every command of this project is run from there. */
export const ROOT = resolve(process.cwd());
