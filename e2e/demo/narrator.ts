import { relative } from 'node:path';

import { runKubectl } from '../harness/kubectl.js';

/** Says what the demo does: headings, sentences, and each command with its output, ready to be copied. */
export class Narrator {
  readonly #write: (text: string) => void;
  readonly #colours: boolean;
  #step = 0;
  #title = 'start';

  constructor(write: (text: string) => void, colours: boolean) {
    this.#write = write;
    this.#colours = colours;
  }

  /** Number and title of the step under way, for the message of a failure. */
  get step(): string {
    return `${this.#step}. ${this.#title}`;
  }

  heading(title: string): void {
    this.#step += 1;
    this.#title = title;
    const text = `== ${this.step}`;
    this.#write(`\n${this.#colours ? `\u001B[1m${text}\u001B[22m` : text}`);
  }

  say(text: string): void {
    this.#write(text);
  }

  command(kubeconfig: string, words: readonly string[]): void {
    const quoted = words.map((word) =>
      /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`,
    );
    this.#write(`\n$ KUBECONFIG=${relative(process.cwd(), kubeconfig)} ${quoted.join(' ')}`);
  }

  output(text: string): void {
    for (const line of text.trimEnd().split('\n')) if (line !== '') this.#write(`  ${line}`);
  }

  /** Shows a kubectl command, runs it, shows and gives its output; rejects when it fails. */
  async kubectl(kubeconfig: string, args: readonly string[], input?: string): Promise<string> {
    this.command(kubeconfig, ['kubectl', ...args]);
    if (input !== undefined) this.output(input);
    const result = await runKubectl(kubeconfig, args, input === undefined ? {} : { input });
    this.output(result.stdout + result.stderr);
    if (result.code !== 0) throw new Error(`kubectl ended with exit code ${result.code}`);
    return result.stdout;
  }
}
