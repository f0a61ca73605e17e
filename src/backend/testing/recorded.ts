import { readFileSync } from 'node:fs';
import type { KubeObject } from '../../kube/object.js';

/** An answer of a real backend v0.8.2, without what is secret or only noise. */
export interface RecordedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
}

/** For example `exports-v0.8.2`. */
export function recordedAnswer(name: string): RecordedAnswer {
  // `as`: the files are ours.
  return read(`../http/testdata/${name}.json`) as RecordedAnswer;
}

/** An object of a real provider, for example `boundschemas-v0.8.2`. */
export function recordedObject(name: string): KubeObject {
  return read(`../provider/testdata/${name}.json`) as KubeObject;
}

function read(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
}
