import type { Impersonation } from '../credentials.js';

/** The headers by which Kubernetes lets a privileged user act as another. */
export function impersonationHeaders(
  impersonate: Impersonation | undefined,
): Readonly<Record<string, string | string[]>> {
  if (impersonate === undefined) return {};
  const { groups = [], uid, user } = impersonate;
  return {
    'impersonate-user': user,
    ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
  };
}
