import type { Clock } from '../../../src/kube/clock.js';
import type { TextOutput } from '../environment.js';
import type { Colors } from './colors.js';
import { formatElapsed } from './durations.js';
import { printable } from './printable.js';

/** One thing that takes time. After `done` or `failed` it says nothing more. */
export interface Phase {
  /** What it waits for at this moment; said again only when it changes. */
  detail(text: string): void;
  done(text?: string): void;
  failed(): void;
}

/** Says on standard error what the command is doing. */
export interface Progress {
  phase(title: string): Phase;
  /** A line that stays. */
  line(text: string): void;
  /** Takes the live line away, for a prompt or the end; idempotent. The next tick brings it back unless closed. */
  pause(): void;
  close(): void;
}

const TICK_MS = 200;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'] as const;

export interface ProgressOptions {
  readonly output: TextOutput;
  readonly clock: Clock;
  readonly colors: Colors;
  /** `live`: one line that is rewritten with the elapsed time. `plain`: a line for each change. `silent`: none. */
  readonly style: 'live' | 'plain' | 'silent';
}

export function createProgress(options: ProgressOptions): Progress {
  switch (options.style) {
    case 'live':
      return new LiveProgress(options);
    case 'plain':
      return new PlainProgress(options);
    case 'silent':
      return SILENT;
  }
}

const SILENT: Progress = {
  phase: () => ({ detail: () => undefined, done: () => undefined, failed: () => undefined }),
  line: () => undefined,
  pause: () => undefined,
  close: () => undefined,
};

class PlainProgress implements Progress {
  readonly #options: ProgressOptions;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  phase(title: string): Phase {
    const { clock } = this.#options;
    const started = clock.now();
    let last = '';
    this.line(`${title} ...`);
    return {
      detail: (text) => {
        if (text === last || text === '') return;
        last = text;
        this.line(`  ${text} (${formatElapsed(clock.now() - started)})`);
      },
      done: (text = title) => this.line(`${text} (${formatElapsed(clock.now() - started)})`),
      failed: () => undefined,
    };
  }

  line(text: string): void {
    this.#options.output.write(`${text}\n`);
  }

  pause(): void {
    // Nothing is rewritten.
  }

  close(): void {
    // Nothing runs.
  }
}

class LiveProgress implements Progress {
  readonly #options: ProgressOptions;
  #current: { title: string; detail: string; started: number } | undefined;
  #frame = 0;
  #drawn = false;
  #cancelTick: (() => void) | undefined;

  constructor(options: ProgressOptions) {
    this.#options = options;
  }

  phase(title: string): Phase {
    const { clock, colors } = this.#options;
    const phase = { title, detail: '', started: clock.now() };
    this.#current = phase;
    this.#tick();
    const end = (mark: string, text: string): void => {
      if (this.#current !== phase) return;
      this.close();
      this.line(`${mark} ${text} ${colors.dim(`(${formatElapsed(clock.now() - phase.started)})`)}`);
    };
    return {
      detail: (text) => (phase.detail = text),
      done: (text = title) => end(colors.good('✓'), text),
      failed: () => end(colors.bad('✗'), title),
    };
  }

  line(text: string): void {
    this.pause();
    this.#options.output.write(`${text}\n`);
  }

  pause(): void {
    if (!this.#drawn) return;
    this.#options.output.write('\r\u001b[K');
    this.#drawn = false;
  }

  close(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.pause();
    this.#current = undefined;
  }

  #tick(): void {
    this.#cancelTick?.();
    const phase = this.#current;
    if (phase === undefined) return;
    const { clock, colors, output } = this.#options;
    this.#frame = (this.#frame + 1) % FRAMES.length;
    const elapsed = formatElapsed(clock.now() - phase.started);
    const detail = phase.detail === '' ? '' : `: ${phase.detail}`;
    // One column stays free, so that no terminal wraps the line and the next tick finds it again.
    const room = Math.max(20, output.columns - elapsed.length - 6);
    const text = printable(`${phase.title}${detail}`, room);
    output.write(`\r\u001b[K${FRAMES[this.#frame] ?? ''} ${text} ${colors.dim(elapsed)}`);
    this.#drawn = true;
    this.#cancelTick = clock.after(TICK_MS, () => this.#tick());
  }
}
