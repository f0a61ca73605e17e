import type { Offer } from '../../../src/api/offer.js';
import { GVR } from '../../../src/api/gvr.js';
import { GROUP } from '../../../src/api/group.js';
import { COMPONENT_LABEL, CREDENTIALS_LABEL } from '../../../src/api/markers.js';
import { isObjectNotFound, isStatus } from '../../../src/kube/errors.js';
import { isJsonObject, type JsonObject } from '../../../src/kube/json-value.js';
import type { KubeObject } from '../../../src/kube/object.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { templatesToOffers } from '../../../src/backend/http/offers.js';

/** Every kcp workspace has it. */
export const SECRET_NAMESPACE = 'default';
/** Key of the kubeconfig: the default of `spec.kubeconfigSecretRef.key`. */
const KUBECONFIG = 'kubeconfig';
/** Key of the identity, which only the handshake of this plugin uses. */
const IDENTITY = 'identity';
/** Key of the offers as of the last login, so that another template needs no other login. */
const OFFERS = 'offers';
const COMPONENT = 'plugin-account';

/** Annotations on Secret and connection: which backend the account is at. */
export const BACKEND_URL_ANNOTATION = `${GROUP}/backend-url`;
export const BACKEND_CLUSTER_ANNOTATION = `${GROUP}/backend-cluster-id`;
export const BACKEND_ACCOUNT_ANNOTATION = `${GROUP}/backend-account`;

/** An account at a provider that the user keeps in a Secret of the workspace. */
export interface StoredAccount {
  /** 256 random bits; whoever knows it gets this account from the backend. */
  readonly identity?: string | undefined;
  /** Absent: the login has not been finished yet. */
  readonly kubeconfig?: string | undefined;
  readonly offers?: readonly Offer[] | undefined;
}

/** Name of the Secret of a connection. */
export function accountSecretName(connection: string): string {
  return `kube-bind-${connection}`.slice(0, 253).replace(/[-.]+$/, '');
}

/**
 * Reads the account of a connection; undefined where there is no such Secret.
 *
 * @throws PluginError CONFLICT where a Secret of that name is not one of this plugin
 */
export async function readAccount(
  context: CommandContext,
  session: Session,
  connection: string,
): Promise<StoredAccount | undefined> {
  const secret = await readSecret(context, session, connection);
  if (secret === undefined) return undefined;
  const data = isJsonObject(secret['data']) ? secret['data'] : {};
  const text = (key: string): string | undefined => {
    const encoded = data[key];
    return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : undefined;
  };
  return { identity: text(IDENTITY), kubeconfig: text(KUBECONFIG), offers: readOffers(text(OFFERS)) };
}

/**
 * Stores what is given beside what is there. Writes nothing where nothing differs.
 *
 * @param annotations of the backend
 */
export async function storeAccount(
  context: CommandContext,
  session: Session,
  connection: string,
  change: { readonly account: StoredAccount; readonly annotations?: Readonly<Record<string, string>> },
): Promise<void> {
  const { signal } = context;
  const wanted = accountSecret(connection, change);
  const current = await readSecret(context, session, connection);
  if (current === undefined) {
    try {
      await session.client.create(GVR.secrets, wanted, { signal });
      return;
    } catch (error) {
      // Another run was quicker: its identity counts.
      if (isStatus(error, 409)) throw raced(connection, error);
      throw error;
    }
  }
  const data = isJsonObject(current['data']) ? current['data'] : {};
  const fresh = wanted['data'] as JsonObject;
  if (Object.entries(fresh).every(([key, value]) => data[key] === value)) return;
  const { name, resourceVersion } = current.metadata;
  await session.client.patch(
    GVR.secrets,
    { namespace: SECRET_NAMESPACE, name },
    'merge',
    { metadata: resourceVersion === undefined ? {} : { resourceVersion }, data: fresh },
    { signal },
  );
}

/** The Secret of an account as it is created. */
export function accountSecret(
  connection: string,
  parts: { readonly account: StoredAccount; readonly annotations?: Readonly<Record<string, string>> },
): KubeObject {
  const { identity, kubeconfig, offers } = parts.account;
  const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: accountSecretName(connection),
      namespace: SECRET_NAMESPACE,
      labels: { [CREDENTIALS_LABEL]: 'true', [COMPONENT_LABEL]: COMPONENT },
      ...(parts.annotations === undefined ? {} : { annotations: { ...parts.annotations } }),
    },
    type: 'Opaque',
    data: {
      ...(identity === undefined ? {} : { [IDENTITY]: encode(identity) }),
      ...(kubeconfig === undefined ? {} : { [KUBECONFIG]: encode(kubeconfig) }),
      ...(offers === undefined ? {} : { [OFFERS]: encode(JSON.stringify(offers)) }),
    },
  };
}

/** Deletes the Secret of a connection that has gone, where this plugin made it. */
export async function removeAccount(
  context: CommandContext,
  session: Session,
  name: string,
): Promise<boolean> {
  const target = { namespace: SECRET_NAMESPACE, name };
  try {
    const secret = await session.client.get(GVR.secrets, target, { signal: context.signal });
    if (!isOurs(secret)) return false;
    const { uid } = secret.metadata;
    await session.client.delete(GVR.secrets, target, { uid, signal: context.signal });
    return true;
  } catch (error) {
    if (isStatus(error, 404)) return false;
    throw error;
  }
}

async function readSecret(
  context: CommandContext,
  session: Session,
  connection: string,
): Promise<KubeObject | undefined> {
  const name = accountSecretName(connection);
  let secret: KubeObject;
  try {
    const target = { namespace: SECRET_NAMESPACE, name };
    secret = await session.client.get(GVR.secrets, target, { signal: context.signal });
  } catch (error) {
    if (isObjectNotFound(error) || isStatus(error, 404)) return undefined;
    throw error;
  }
  if (isOurs(secret)) return secret;
  throw new PluginError({
    code: 'CONFLICT',
    message: `Secret ${SECRET_NAMESPACE}/${name} exists and is not one that this plugin made`,
    remedy: 'choose another name with --connection',
  });
}

function isOurs(secret: KubeObject): boolean {
  const { labels } = secret.metadata;
  return labels?.[CREDENTIALS_LABEL] === 'true' && labels[COMPONENT_LABEL] === COMPONENT;
}

/** Checked like what a backend sends: whoever may write Secrets here can have written it. */
function readOffers(text: string | undefined): readonly Offer[] | undefined {
  if (text === undefined) return undefined;
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return undefined;
    return templatesToOffers(
      list.flatMap((offer: unknown) => {
        if (typeof offer !== 'object' || offer === null || !('template' in offer)) return [];
        const { template, ...spec } = offer as JsonObject;
        const namespaces = Array.isArray(spec['namespaces'])
          ? spec['namespaces'].map((name) => ({ name }))
          : [];
        return [{ metadata: { name: template ?? null }, spec: { ...spec, namespaces } }];
      }),
    );
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function raced(connection: string, cause: unknown): PluginError {
  return new PluginError({
    code: 'CONFLICT',
    message: `another run has just made Secret ${SECRET_NAMESPACE}/${accountSecretName(connection)}`,
    remedy: 'run the command again',
    cause,
  });
}
