/** Which addresses may be dialled for hosts that a tenant or a provider named. */
export interface DialPolicy {
  /** Host names (exact, or `*.suffix`) that may resolve to any address. */
  readonly allowHosts: readonly string[];
  /** CIDRs that may be dialled although they are loopback, link-local or private. */
  readonly allowCidrs: readonly string[];
  /** CIDRs that may never be dialled. Stronger than both of the above. */
  readonly denyCidrs: readonly string[];
  readonly allowProxy: boolean;
}
