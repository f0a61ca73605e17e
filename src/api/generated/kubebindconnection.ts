// Generated from apiresourceschemas/ by `make generate`. Do not edit.

/**
 * KubeBindConnection says that this workspace trusts one provider, and with which credentials: either those that a kube-bind backend gives after a login (spec.backend), or a kubeconfig that the user already has (spec.kubeconfigSecretRef).
 */
export interface KubeBindConnection {
  apiVersion?: string;
  kind?: string;
  metadata?: {
    [k: string]: unknown;
  };
  spec: {
    /**
     * A kube-bind backend, with which a person makes the handshake.
     */
    backend?: {
      /**
       * Origin of the backend, for instance https://bind.example.com. A path prefix is kept.
       */
      url: string;
      /**
       * The provider cluster to choose, where the backend serves several.
       */
      clusterID?: string;
      /**
       * PEM certificates that the backend's certificate is verified with, in place of the system's.
       */
      caBundle?: string;
      /**
       * Another account name asks the backend for a fresh, separate account of this workspace.
       */
      account?: string;
    };
    /**
     * A Secret of this workspace with a kubeconfig for the provider. It must carry the label kcp.kube-bind.io/credentials: "true".
     */
    kubeconfigSecretRef?: {
      namespace: string;
      name: string;
      key?: string;
    };
    /**
     * Asks for a (new) login. A change of it starts another.
     */
    login?: {
      /**
       * SHA-256, base64url without padding, of a verifier that only the person who makes the login knows. With it, nobody else can finish the login.
       */
      challenge?: string;
    };
  };
  status?: {
    phase?: "Pending" | "AwaitingLogin" | "Connected" | "Failed" | "Deleting";
    observedGeneration?: number;
    /**
     * Where a person opens the login page. Present while a login is awaited.
     */
    authentication?: {
      url?: string;
      /**
       * To be typed on the page where spec.login.challenge is not set.
       */
      userCode?: string;
      expiresAt?: string;
    };
    provider?: {
      prettyName?: string;
      version?: string;
      server?: string;
      namespace?: string;
    };
    /**
     * What the provider offers, as of the last login. A copy for reading.
     */
    offers?: {
      template: string;
      title?: string;
      description?: string;
      scope?: "Cluster" | "Namespaced";
      resources?: {
        group: string;
        resource: string;
        versions?: string[];
      }[];
      permissionClaims?: {
        group: string;
        resource: string;
        /**
         * The provider's selector, in short words.
         */
        selector?: string;
      }[];
    }[];
    /**
     * What holds now. Every False condition says in its message what to do.
     */
    conditions?: {
      type: string;
      status: "True" | "False" | "Unknown";
      reason: string;
      message: string;
      lastTransitionTime: string;
      observedGeneration?: number;
    }[];
  };
}
