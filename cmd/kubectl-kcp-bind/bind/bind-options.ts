import { usageError } from '../errors.js';
import { dryRunFlag, listFlag, portFlag, switchFlag, textFlag, timeoutFlag } from '../flag-values.js';
import { isWorkspace } from '../kubeconfig/workspace.js';
import type { DryRun, FlagValues } from '../options.js';
import { CLIENT_EXPORT } from '../../../src/api/group.js';
import type { ClientBindingOptions } from './client-binding.js';
import type { TemplateWish } from './choose-templates.js';
import { readAcceptance } from './consent.js';
import { parseResource, type WantedResource } from './resource-flag.js';
import type { ExportReference } from './manifests.js';

/** Where the client is installed unless `--client-path` says otherwise. */
const DEFAULT_CLIENT_PATH = 'root:kube-bind';

/** The flags of `bind URL`, checked. */
export interface BindOptions {
  readonly client: ClientBindingOptions;
  readonly wish: TemplateWish;
  readonly connection: string | undefined;
  readonly account: string | undefined;
  readonly clusterID: string | undefined;
  readonly caFile: string | undefined;
  /** Undefined: the controller's, and local where it serves no login pages. */
  readonly handshake: 'controller' | 'local' | undefined;
  /** 0: any port that is free. */
  readonly callbackPort: number;
  /** A kubeconfig of the provider; `-` is standard input. */
  readonly kubeconfigFile: string | undefined;
  /** `--resource`, with a kubeconfig only. */
  readonly resources: readonly WantedResource[];
  readonly providerCheck: boolean;
  readonly browser: boolean;
  readonly loginHost: string | undefined;
  readonly wait: boolean;
  readonly timeoutMs: number;
  readonly dryRun: DryRun;
  readonly unattended: boolean;
}

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** @throws PluginError USAGE */
export function readBindOptions(flags: FlagValues): BindOptions {
  const templates = listFlag(flags, 'template')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim());
  if (templates.includes('')) throw usageError('--template has an empty name');
  const name = objectName(flags, 'name');
  if (name !== undefined && templates.length !== 1 && listFlag(flags, 'resource').length === 0) {
    throw usageError(
      '--name needs exactly one --template',
      'leave --name out, or run the command once for each template',
    );
  }
  const wait = switchFlag(flags, 'wait', true);
  const handshake = textFlag(flags, 'handshake');
  const kubeconfigFile = textFlag(flags, 'kubeconfigFile');
  const resources = listFlag(flags, 'resource').map(parseResource);
  checkCombination(flags, { kubeconfigFile, resources: resources.length, templates: templates.length });
  if (!wait && templates.length === 0 && resources.length === 0) {
    throw usageError('--no-wait needs --template', 'say which templates to bind with --template NAME');
  }
  return {
    client: {
      reference: readClientReference(flags),
      pathGiven: textFlag(flags, 'clientPath') !== undefined,
      apiBindingsClaim: switchFlag(flags, 'apibindingsClaim', true),
    },
    wish: { templates, name, acceptance: readAcceptance(listFlag(flags, 'acceptClaims')) },
    connection: objectName(flags, 'connection'),
    account: textFlag(flags, 'account'),
    clusterID: textFlag(flags, 'clusterId'),
    caFile: textFlag(flags, 'caFile'),
    handshake: handshake === 'controller' || handshake === 'local' ? handshake : undefined,
    callbackPort: portFlag(flags),
    kubeconfigFile,
    resources,
    providerCheck: switchFlag(flags, 'providerCheck', true),
    browser: switchFlag(flags, 'browser', true),
    loginHost: textFlag(flags, 'loginHost'),
    wait,
    timeoutMs: timeoutFlag(flags),
    dryRun: dryRunFlag(flags),
    unattended: switchFlag(flags, 'yes', false) || kubeconfigFile === '-',
  };
}

/** Flags that contradict each other would be ignored silently. */
function checkCombination(
  flags: FlagValues,
  given: {
    readonly kubeconfigFile: string | undefined;
    readonly resources: number;
    readonly templates: number;
  },
): void {
  if (given.resources > 0 && given.kubeconfigFile === undefined) {
    throw usageError(
      '--resource needs --kubeconfig-file',
      'a backend offers templates: choose with --template',
    );
  }
  if (given.resources > 0 && given.templates > 0) {
    throw usageError('--resource and --template exclude each other', 'run the command once for each');
  }
  if (given.kubeconfigFile === undefined) return;
  for (const flag of ['handshake', 'account', 'clusterId', 'caFile', 'callbackPort']) {
    if (flags[flag] !== undefined) {
      throw usageError(
        `--${flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)} and --kubeconfig-file exclude each other`,
        'with a kubeconfig there is no handshake',
      );
    }
  }
}

/**
 * `--client-path` and `--client-export`: where the client is installed.
 *
 * @throws PluginError USAGE
 */
export function readClientReference(flags: FlagValues): ExportReference {
  const path = textFlag(flags, 'clientPath');
  if (path !== undefined && !isWorkspace(path)) {
    throw usageError(
      `--client-path ${JSON.stringify(path)} is no workspace`,
      'give a path like root:kube-bind',
    );
  }
  return { path: path ?? DEFAULT_CLIENT_PATH, name: objectName(flags, 'clientExport') ?? CLIENT_EXPORT };
}

function objectName(flags: FlagValues, flag: string): string | undefined {
  const name = textFlag(flags, flag);
  if (name !== undefined && (name.length > 253 || !NAME.test(name))) {
    throw usageError(
      `${JSON.stringify(name)} cannot be the name of an object`,
      'use lower-case letters, digits, - and ., and begin and end with a letter or digit',
    );
  }
  return name;
}
