import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Length of a clock tick in `/proc`, which Linux fixes for all programs, in milliseconds. */
const TICK_MS = 10;

/** Milliseconds that a process has had of all cores together. Linux only. */
export async function cpuMs(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  // The second field is the program's name, which may hold spaces.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** The most memory that a process has held at a time, in MiB. Linux only. */
export async function peakMemoryMiB(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(/^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1]) / 1024);
}

/** What this process holds: open descriptors, and the heap in MiB after a collection. Linux only. */
export function ownUsage(): { readonly descriptors: number; readonly heapMiB: number } {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    heapMiB: process.memoryUsage().heapUsed / 2 ** 20,
  };
}
