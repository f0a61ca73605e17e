import { usageError } from '../errors.js';

/** An API to ask for without a template, as `spec.resources` has it. */
export interface WantedResource {
  readonly group: string;
  readonly resource: string;
  readonly versions: string[];
}

/**
 * Reads a resource as kubectl writes it with its version: `databases.v1.example.org`.
 *
 * @throws PluginError USAGE
 */
export function parseResource(text: string): WantedResource {
  const [, resource, version, group] =
    /^([a-z][a-z0-9-]*)\.(v[a-z0-9]+)\.([a-z0-9][a-z0-9.-]*\.[a-z0-9]+)$/.exec(text) ?? [];
  if (resource === undefined || version === undefined || group === undefined) {
    throw usageError(
      `--resource ${JSON.stringify(text)} names no API`,
      'write it as RESOURCE.VERSION.GROUP, like databases.v1.example.org',
    );
  }
  return { group, resource, versions: [version] };
}
