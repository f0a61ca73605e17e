/** RFC 3339 in UTC with whole seconds, the only form that the provider's objects hold. */
export function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z');
}
