import type { KubeObject } from '../../../src/kube/object.js';
import type { Environment } from '../environment.js';
import type { OutputFormat } from '../options.js';
import type { Progress } from './progress.js';

/**
 * Where a command's words go. Standard output holds the result only: with `-o json|yaml|name` exactly the
 * data, else what the user asked to see. All else goes to standard error.
 */
export interface Report {
  readonly format: OutputFormat | undefined;
  readonly progress: Progress;
  /** A result for people, on standard output; nothing where data was asked for. */
  result(text: string): void;
  /** Something to know on the way; standard error, not with `--quiet`. */
  note(text: string): void;
  /** Something that should not be overlooked; standard error, also with `--quiet`. */
  warn(text: string): void;
  /** The objects as data, where `-o json|yaml|name` asks for it. Answers whether it did. */
  objects(objects: readonly KubeObject[]): Promise<boolean>;
}

export function createReport(
  environment: Pick<Environment, 'stdout' | 'stderr'>,
  options: {
    readonly format: OutputFormat | undefined;
    readonly quiet: boolean;
    readonly progress: Progress;
  },
): Report {
  const { format, progress, quiet } = options;
  const data = format !== undefined && format !== 'wide';
  return {
    format,
    progress,
    result: (text) => {
      progress.pause();
      if (!data) environment.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    },
    note: (text) => {
      if (!quiet) progress.line(text);
    },
    warn: (text) => {
      progress.pause();
      environment.stderr.write(`warning: ${text}\n`);
    },
    objects: async (objects) => {
      if (!data) return false;
      // Loaded here, since its YAML library would slow every start down.
      const { renderObjects } = await import('./documents.js');
      progress.pause();
      environment.stdout.write(renderObjects(objects, format));
      return true;
    },
  };
}
