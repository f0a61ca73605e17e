/** One template that the backend offered at the last login. The same shape as in `status.offers`. */
export interface Offer {
  readonly template: string;
  readonly title?: string;
  readonly description?: string;
  readonly scope?: 'Cluster' | 'Namespaced';
  readonly resources: readonly OfferedResource[];
  readonly permissionClaims: readonly OfferedClaim[];
  /** Namespaces that the template asks to be made, and how its schemas are followed. */
  readonly namespaces?: readonly string[];
  readonly schemaUpdatePolicy?: 'Never' | 'Always';
}

export interface OfferedResource {
  readonly group: string;
  readonly resource: string;
  readonly versions: readonly string[];
}

/** A claim, with the provider's selector as it was sent (it goes into the export request unchanged). */
export interface OfferedClaim {
  readonly group: string;
  readonly resource: string;
  readonly selector: Record<string, unknown>;
}
