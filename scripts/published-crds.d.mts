/** One CRD of e2e/suites/schema/published-crds.json, fetched and checked. */
export interface PublishedCrd {
  /** Name of the CRD. */
  readonly crd: string;
  readonly module: string;
  readonly version: string;
  /** SPDX, as the module's licence file says. */
  readonly licence: string;
  /** Within the module. */
  readonly file: string;
  readonly sha256: string;
  /** Where the file is on this machine. */
  readonly path: string;
  /** What CEL rules demand of the generated object, as steps of a JSON patch. */
  readonly patch?: readonly {
    readonly op: 'set' | 'remove';
    readonly path: string;
    readonly value?: unknown;
  }[];
}

export function fetchPublishedCrds(): Promise<PublishedCrd[]>;
