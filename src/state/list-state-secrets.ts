import { GVR } from '../api/gvr.js';
import type { KubeClient } from '../kube/client.js';
import type { KubeObject } from '../kube/object.js';
import { CONNECTION_STATE_SELECTOR } from './state-secret.js';

/** A page holds at most this many Secrets, so that a page of the largest ones still fits into a transport's budget. */
const PAGE = 50;

/** All Secrets with a connection's state, live, page by page. Ends with an error rather than early. */
export async function* listStateSecrets(client: KubeClient, namespace: string): AsyncGenerator<KubeObject> {
  let token: string | undefined;
  do {
    const page = await client.list(GVR.secrets, {
      namespace,
      labelSelector: CONNECTION_STATE_SELECTOR,
      limit: PAGE,
      continue: token,
    });
    yield* page.items;
    token = page.continue;
  } while (token !== undefined && token !== '');
}
