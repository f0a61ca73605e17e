import { describe, expect, it } from '@jest/globals';

import { claims } from '../testing/observations.js';
import { decideConsent } from './consent.js';

const SECRETS = { group: '', resource: 'secrets' };
const asked = { reported: [{ ...SECRETS, selector: 'all' }], carried: [] };
const spec = {
  connection: 'c',
  permissionClaims: [{ ...SECRETS, state: 'Accepted' as const }],
};
const ALL = ['secrets.', 'namespaces.', 'events.', 'apibindings.apis.kcp.io'];
const without = (claim: string) => claims(...ALL.filter((each) => each !== claim));

/** Claims of the client export that cost one feature, and hold nothing back. */
describe('the condition about claims', () => {
  it('has nothing to say when everything is granted', () => {
    expect(decideConsent(spec, asked, claims(...ALL)).condition).toEqual({
      status: 'True',
      reason: 'Accepted',
      message: '',
    });
  });

  it.each([['events.'], ['namespaces.']])(
    'stays True and names %s when the workspace rejects it',
    (claim) => {
      const { condition } = decideConsent(spec, asked, without(claim));
      expect(condition).toMatchObject({ status: 'True', reason: 'Accepted' });
      expect(condition.message).toContain(`permission claim ${claim.slice(0, -1)} on APIBinding kube-bind`);
    },
  );

  it('does not speak of namespaces where there are no related objects', () => {
    const none = { reported: [], carried: [] };
    const { condition } = decideConsent(spec, none, without('namespaces.'));
    expect(condition).toMatchObject({ reason: 'NoClaims' });
    expect(condition.message).not.toContain('namespaces');
  });

  it('keeps what has to be done in front', () => {
    const { condition } = decideConsent({ connection: 'c' }, asked, without('events.'));
    expect(condition).toMatchObject({ status: 'False', reason: 'NotAccepted' });
    expect(condition.message).toMatch(/^The provider asks for secrets.*permission claim events/s);
  });
});
