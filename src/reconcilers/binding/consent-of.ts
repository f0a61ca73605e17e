import type { KubeObject } from '../../kube/object.js';
import { groupResourceKey } from '../claims.js';
import type { GroupResource } from '../claims.js';
import { objectsAt, textAt } from '../views.js';
import { decideConsent, LEAVE_CLAIM, NAMESPACES } from './consent.js';
import type { Consent } from './consent.js';
import type { BindingObservation } from './observation.js';

const OWN_PURPOSE = new Set([LEAVE_CLAIM, NAMESPACES].map(groupResourceKey));

/** Consent for an observed binding. */
export function consentOf(
  observed: Pick<BindingObservation, 'spec' | 'latest' | 'generated' | 'claims'>,
): Consent {
  const asked = { reported: observed.latest?.claims, carried: carriedClaims(observed.generated) };
  return decideConsent(observed.spec, asked, observed.claims);
}

/** Related resources that the generated export claims now. */
function carriedClaims(generated: KubeObject | undefined): GroupResource[] {
  return objectsAt(generated, 'spec', 'permissionClaims')
    .map((claim) => ({ group: textAt(claim, 'group') ?? '', resource: textAt(claim, 'resource') ?? '' }))
    .filter((claim) => !OWN_PURPOSE.has(groupResourceKey(claim)));
}
