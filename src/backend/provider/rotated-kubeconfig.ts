import { createHash } from 'node:crypto';
import { GVR } from '../../api/gvr.js';
import type { RequestOptions } from '../../kube/client.js';
import { isObjectNotFound } from '../../kube/errors.js';
import { isJsonObject } from '../../kube/json-value.js';
import type { KubeObject } from '../../kube/object.js';
import { decodeBase64Text } from '../http/base64-text.js';
import type { ProviderContract } from './contract.js';

/** The Secret, and its key, in which a provider keeps the consumer's kubeconfig up to date. */
export const PROVIDER_KUBECONFIG = { name: 'kubeconfig', key: 'kubeconfig' } as const;

const MAX_KUBECONFIG = 64 * 1024;

export type RotatedKubeconfig =
  | {
      readonly state: 'present';
      /** Unchecked: must go through the sanitizer, and must lead to a contract namespace of the same UID. */
      readonly text: string;
      /** SHA-256, hex, of the text. */
      readonly hash: string;
    }
  /** `absent` and `invalid` are no news: the kubeconfig in use stays in use. */
  | { readonly state: 'absent' }
  | { readonly state: 'invalid'; readonly message: string };

/** Reads what the provider says now. Rejects with the errors of KubeClient. */
export async function readRotatedKubeconfig(
  { client, namespace }: ProviderContract,
  options?: RequestOptions,
): Promise<RotatedKubeconfig> {
  const { name } = PROVIDER_KUBECONFIG;
  try {
    return rotatedKubeconfigIn(await client.get(GVR.secrets, { namespace, name }, options));
  } catch (error) {
    if (isObjectNotFound(error)) return { state: 'absent' };
    throw error;
  }
}

/** What the provider's Secret says; undefined: there is none. */
export function rotatedKubeconfigIn(secret: KubeObject | undefined): RotatedKubeconfig {
  const { key } = PROVIDER_KUBECONFIG;
  if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return { state: 'absent' };
  const data = isJsonObject(secret['data']) ? secret['data'] : {};
  const encoded = Object.hasOwn(data, key) ? data[key] : undefined;
  const text = typeof encoded === 'string' ? decodeBase64Text(encoded) : undefined;
  if (text === undefined)
    return { state: 'invalid', message: `the provider's Secret has no text in key ${key}` };
  if (text.length > MAX_KUBECONFIG)
    return {
      state: 'invalid',
      message: `the provider's Secret has more than ${MAX_KUBECONFIG} characters in key ${key}`,
    };
  return { state: 'present', text, hash: createHash('sha256').update(text).digest('hex') };
}
