import type { JsonObject } from '../../kube/json-value.js';
import { untrustedText } from '../../api/untrusted-text.js';
import { mergeConditions } from '../conditions.js';
import type { ConnectionStatus } from '../views.js';
import type { ConnectionPlan } from './decide.js';
import { loginView } from './login-plan.js';
import type { ConnectionObservation } from './observation.js';
import { offersForStatus } from './offers.js';

/** URL and code of a login as they are published; kept nowhere else. */
export interface PublishedLogin {
  readonly url: string;
  readonly userCode?: string;
}

/**
 * The whole status of a connection. Nothing of what stands there now is taken over but transition times and,
 * while it proves to be that of the stored login, the login's URL.
 */
export function connectionStatusOf(
  plan: NonNullable<ConnectionPlan['status']>,
  observed: ConnectionObservation,
  context: {
    readonly previous: ConnectionStatus;
    readonly generation: number | undefined;
    readonly published: PublishedLogin | undefined;
  },
): JsonObject {
  const { account, login } = observed.state;
  const view = loginView(login, observed.now);
  const provider = providerStatus(observed);
  const offers = offersForStatus(account?.offers ?? []);
  const status: ConnectionStatus = {
    phase: plan.phase,
    ...(context.generation === undefined ? {} : { observedGeneration: context.generation }),
    ...(view.kind === 'live' && context.published !== undefined
      ? { authentication: { ...context.published, expiresAt: view.login.expiresAt } }
      : {}),
    ...(Object.keys(provider).length === 0 ? {} : { provider }),
    ...(offers.length === 0 ? {} : { offers }),
    conditions: mergeConditions(context.previous.conditions, plan.conditions, {
      now: observed.now,
      generation: context.generation,
    }),
  };
  return { ...status };
}

function providerStatus(observed: ConnectionObservation): NonNullable<ConnectionStatus['provider']> {
  const { account } = observed.state;
  const fromWorker = observed.bindings.find(({ report }) => report?.provider !== undefined)?.report?.provider;
  const asked = observed.provider.kind === 'reachable' ? observed.provider : undefined;
  const prettyName = untrustedText(asked?.prettyName ?? fromWorker?.prettyName, 256);
  const version = untrustedText(asked?.version, 128);
  return {
    ...(prettyName === '' ? {} : { prettyName }),
    ...(version === '' ? {} : { version }),
    ...(account === undefined
      ? {}
      : {
          server: untrustedText(account.credentials.server, 2048),
          namespace: untrustedText(account.contractNamespace, 253),
        }),
  };
}
