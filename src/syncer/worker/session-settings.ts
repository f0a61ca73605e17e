import type { ReflectorEvent } from '../../kube/cache/reflector.js';
import type { Clock } from '../../kube/clock.js';
import type { Logger } from '../../telemetry/logger.js';
import type { BindingAssignment, SyncerOptions } from '../protocol/assignment.js';
import type { BindingObjects, BindingObjectsOutput } from './binding-objects.js';
import type { ProviderLink } from './provider-link.js';

/** Effects and limits of the work on one binding. */
export interface SessionSettings {
  readonly options: SyncerOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  /** This program's version, for the provider. */
  readonly version: string;
  /** A look at the provider failed; for metrics. */
  readonly onPassFailed: () => void;
  /** The watch of the contract's own objects; for metrics. */
  readonly onWatched?: (event: ReflectorEvent) => void;
  readonly linkProvider: (provider: BindingAssignment['provider']) => ProviderLink;
  readonly openBindingObjects: (
    assignment: BindingAssignment & { readonly consumer: NonNullable<BindingAssignment['consumer']> },
    link: ProviderLink,
    output: BindingObjectsOutput,
  ) => BindingObjects;
}
