import type { KubeconfigOverrides } from './kubeconfig/select.js';

/** Values of `-o`. */
export const OUTPUT_FORMATS = ['json', 'yaml', 'name', 'wide'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];
/** The formats that are data for other programs. */
export type DataFormat = Exclude<OutputFormat, 'wide'>;

/** Flags that every command takes. */
export interface GlobalOptions extends KubeconfigOverrides {
  readonly kubeconfig?: string | undefined;
  readonly workspace?: string | undefined;
  readonly output?: OutputFormat | undefined;
  readonly quiet?: boolean | undefined;
  readonly verbose?: boolean | undefined;
}

/** `--dry-run`: what is checked by whom, with nothing written. */
export type DryRun = 'none' | 'client' | 'server';

/** Flags as the parser gives them, by camel-case name. */
export type FlagValues = Readonly<Record<string, unknown>>;
