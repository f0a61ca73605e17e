import type { ConditionState } from '../../api/conditions.js';
import { untrustedText } from '../../api/untrusted-text.js';
import { readContractNamespace, type ProviderContract } from '../../backend/provider/contract.js';
import { readRotatedKubeconfig, rotatedKubeconfigIn } from '../../backend/provider/rotated-kubeconfig.js';
import type { KubeClient, RequestOptions } from '../../kube/client.js';
import type { Clock } from '../../kube/clock.js';
import type { ServerCredentials } from '../../kube/credentials.js';
import { isObjectNotFound, isStatus, KubeconfigError } from '../../kube/errors.js';
import { sanitizeKubeconfig } from '../../kube/kubeconfig-sanitizer.js';
import type { BindingAssignment } from '../protocol/assignment.js';
import type { Seen } from './contract-watch.js';
import { CredentialRotation, sameAccess } from './credential-rotation.js';

/** A client whose credentials can be renewed. */
export interface RenewableClient extends KubeClient {
  setCredentials(credentials: ServerCredentials): void;
}

export interface ProviderLinkOptions {
  readonly connect: (credentials: ServerCredentials) => RenewableClient;
  readonly clock: Clock;
  readonly allowProxy: boolean;
}

/** The credentials lead to another contract than before: nothing may be written there. */
export class ProviderChangedError extends Error {
  override readonly name = 'ProviderChangedError';
}

/** The identity of the contract namespace is looked at again after so long. */
const IDENTITY_MAX_AGE_MS = 5 * 60_000;

/**
 * A binding's way to its provider. Credentials, new or rotated ones included, are used for nothing but looking at
 * the contract namespace before they have shown that they lead to the one that is known.
 */
export class ProviderLink {
  readonly #options: ProviderLinkOptions;
  readonly #rotation = new CredentialRotation();
  readonly #client: RenewableClient;
  readonly contract: ProviderContract;
  #assigned: ServerCredentials;
  #inUse: ServerCredentials;
  #rotated: ServerCredentials | undefined;
  #knownUid: string | undefined;
  #verifiedAt = Number.NEGATIVE_INFINITY;

  /**
   * @throws KubeconfigError or AddressDeniedError for credentials that cannot be used
   */
  constructor(options: ProviderLinkOptions, provider: BindingAssignment['provider']) {
    this.#options = options;
    this.#assigned = this.#inUse = provider.credentials;
    this.#knownUid = provider.contractNamespaceUid;
    this.#client = options.connect(provider.credentials);
    this.contract = { client: this.#client, namespace: provider.contractNamespace };
  }

  /** UID of the contract namespace, once it was seen. */
  get uid(): string | undefined {
    return this.#knownUid;
  }

  /** Credentials that the provider has rotated to and that the assignment does not hold yet. */
  get rotated(): ServerCredentials | undefined {
    return this.#rotated !== undefined && !sameAccess(this.#rotated, this.#assigned)
      ? this.#rotated
      : undefined;
  }

  /** URL of the provider's API server, for messages. */
  get server(): string {
    return this.#inUse.server;
  }

  /**
   * Makes sure that the assignment's credentials are used and lead to the known contract namespace.
   *
   * @throws ProviderChangedError where they do not
   */
  async verify(provider: BindingAssignment['provider'], request: RequestOptions): Promise<void> {
    this.#knownUid = provider.contractNamespaceUid ?? this.#knownUid;
    if (provider.contractNamespace !== this.contract.namespace) {
      throw new ProviderChangedError(`contract namespace ${provider.contractNamespace}`);
    }
    if (!sameAccess(provider.credentials, this.#assigned)) {
      if (!sameAccess(provider.credentials, this.#inUse)) await this.#adopt(provider.credentials, request);
      this.#assigned = provider.credentials;
    }
    if (this.#options.clock.now() - this.#verifiedAt < IDENTITY_MAX_AGE_MS) return;
    this.#check(await namespaceUid(this.contract, request));
  }

  /** Looks whether the provider has rotated the credentials (`seen`: its Secret), and changes to the new ones. */
  async followRotation(seen: Seen, request: RequestOptions): Promise<void> {
    const next = this.#rotation.candidate(await this.#stored(seen, request), this.#inUse);
    if (next === undefined) return;
    try {
      await this.#adopt(next, request);
      this.#rotated = next;
    } catch (error) {
      if (!(error instanceof ProviderChangedError || isStatus(error, 401))) throw error;
      this.#rotation.refuse(next);
    }
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /** What the provider's Secret says. One that cannot be read or used is no news: what works stays in use. */
  async #stored(seen: Seen, request: RequestOptions): Promise<ServerCredentials | undefined> {
    try {
      const secret =
        seen === undefined
          ? await readRotatedKubeconfig(this.contract, request)
          : rotatedKubeconfigIn(seen.object);
      if (secret.state !== 'present') return undefined;
      const credentials = sanitizeKubeconfig(secret.text, { allowProxy: this.#options.allowProxy });
      return credentials.namespace === this.contract.namespace ? credentials : undefined;
    } catch (error) {
      if (error instanceof KubeconfigError || isStatus(error, 403)) return undefined;
      throw error;
    }
  }

  async #adopt(credentials: ServerCredentials, request: RequestOptions): Promise<void> {
    const probe = this.#options.connect(credentials);
    try {
      this.#check(await namespaceUid({ ...this.contract, client: probe }, request));
    } finally {
      await probe.close();
    }
    this.#client.setCredentials(credentials);
    this.#inUse = credentials;
  }

  #check(uid: string): void {
    this.#verifiedAt = Number.NEGATIVE_INFINITY;
    this.#knownUid ??= uid;
    if (uid !== this.#knownUid) throw new ProviderChangedError(`contract namespace of UID ${uid}`);
    this.#verifiedAt = this.#options.clock.now();
  }
}

/** `Connected` for credentials that lead elsewhere. */
export function providerChanged(server: string, namespace: string): ConditionState {
  return {
    status: 'False',
    reason: 'ProviderChanged',
    message: `The credentials for ${server} do not lead to the contract namespace ${untrustedText(namespace, 253)} that this binding was made in: it is gone or another one. Nothing is written there. Restore the former credentials, or delete this binding and bind again.`,
  };
}

async function namespaceUid(contract: ProviderContract, request: RequestOptions): Promise<string> {
  try {
    return (await readContractNamespace(contract, request)).uid;
  } catch (error) {
    if (isObjectNotFound(error))
      throw new ProviderChangedError('the contract namespace is gone', { cause: error });
    throw error;
  }
}
