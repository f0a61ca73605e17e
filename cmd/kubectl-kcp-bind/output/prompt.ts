import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import type { Environment } from '../environment.js';
import { PluginError } from '../errors.js';

/** Asks the person at the terminal. */
export interface Prompt {
  /** Somebody can answer. */
  readonly available: boolean;
  /**
   * One line of answer, trimmed.
   *
   * @throws PluginError DECLINED when nobody is there or the input ends; the signal's reason when aborted
   */
  ask(question: string, signal: AbortSignal): Promise<string>;
}

export function createPrompt(
  environment: Pick<Environment, 'stdin' | 'stderr' | 'interactive'>,
  beforeAsking: () => void,
): Prompt {
  return {
    available: environment.interactive,
    ask: async (question, signal) => {
      if (!environment.interactive) throw unanswered(question);
      signal.throwIfAborted();
      beforeAsking();
      return readAnswer(environment, question, signal);
    },
  };
}

/** `y` and `yes` are consent; everything else, the empty line included, is none. */
export function isYes(answer: string): boolean {
  return /^y(es)?$/i.test(answer.trim());
}

function readAnswer(
  environment: Pick<Environment, 'stdin' | 'stderr'>,
  question: string,
  signal: AbortSignal,
): Promise<string> {
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      environment.stderr.write(chunk.toString('utf8'));
      done();
    },
  });
  // Not `terminal`: the terminal's own line editing is kept, and Ctrl-C stays a signal to the process.
  const lines = createInterface({ input: environment.stdin, output, terminal: false });
  return new Promise<string>((resolve, reject) => {
    const abort = (): void => {
      lines.close();
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted', { cause: signal.reason }));
    };
    signal.addEventListener('abort', abort, { once: true });
    lines.once('line', (line) => {
      resolve(line.trim());
      lines.close();
    });
    lines.once('close', () => {
      signal.removeEventListener('abort', abort);
      // A process with a paused terminal as input may end.
      environment.stdin.pause();
      reject(unanswered(question));
    });
    environment.stderr.write(question);
  });
}

function unanswered(question: string): PluginError {
  return new PluginError({
    code: 'DECLINED',
    message: `nobody answered: ${question.trim()}`,
    remedy: 'run it in a terminal, or give the answer by flags (see --help)',
  });
}
