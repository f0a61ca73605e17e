import { createHash } from 'node:crypto';
import { GVR } from '../../api/gvr.js';
import { CREDENTIALS_LABEL } from '../../api/markers.js';
import { ApiError, KubeconfigError } from '../../kube/errors.js';
import { sanitizeKubeconfig } from '../../kube/kubeconfig-sanitizer.js';
import type { KubeObject } from '../../kube/object.js';
import type { WorkspaceClient } from '../../vw-client/virtual-workspace.js';
import type { WorkspaceClaims } from '../claims.js';
import { detail } from '../conditions.js';
import { textAt } from '../views.js';
import type { ConnectionSpec } from '../views.js';
import type { SecretProbe } from './observation.js';

type SecretRef = NonNullable<ConnectionSpec['kubeconfigSecretRef']>;

/** Reads the Secret that the connection names, as far as workspace and label allow. */
export async function probeSecret(
  workspace: WorkspaceClient,
  claims: WorkspaceClaims,
  ref: SecretRef,
  options: { readonly allowProxy: boolean },
): Promise<SecretProbe> {
  if (!claims.allows(GVR.secrets, 'get', 'list', 'watch')) return { kind: 'claim-missing' };
  let secret: KubeObject;
  try {
    secret = await workspace.get(GVR.secrets, { namespace: ref.namespace, name: ref.name });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status === 404) return { kind: 'not-found' };
    if (error.status === 403) return { kind: 'claim-missing' };
    throw error;
  }
  return readSecret(secret, ref.key ?? 'kubeconfig', options);
}

/** Without the label a user who may not read Secrets could use any of them through us. */
export function readSecret(
  secret: KubeObject,
  key: string,
  options: { readonly allowProxy: boolean },
): SecretProbe {
  if (secret.metadata.labels?.[CREDENTIALS_LABEL] !== 'true') return { kind: 'not-labelled' };
  const encoded = textAt(secret, 'data', key);
  if (encoded === undefined) {
    return { kind: 'invalid', message: 'the Secret has no such key; store the kubeconfig under it' };
  }
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  try {
    const { namespace, ...credentials } = sanitizeKubeconfig(text, options);
    if (namespace === undefined) {
      return {
        kind: 'invalid',
        message: 'the current context has no namespace; set it to the contract namespace on the provider',
      };
    }
    const sourceHash = createHash('sha256').update(text).digest('hex');
    return {
      kind: 'usable',
      credentials: { ...credentials, namespace },
      contractNamespace: namespace,
      sourceHash,
    };
  } catch (error) {
    if (!(error instanceof KubeconfigError)) throw error;
    return { kind: 'invalid', message: detail(error.message) };
  }
}
