// Generated from apiresourceschemas/ by `make generate`. Do not edit.

/**
 * KubeBindBinding says that this workspace wants one API (or several that belong together) from a connection. While it is Ready, the API is served in the workspace like any other.
 */
export interface KubeBindBinding {
  apiVersion?: string;
  kind?: string;
  metadata?: {
    [k: string]: unknown;
  };
  spec: {
    /**
     * Name of the KubeBindConnection.
     */
    connection: string;
    /**
     * Name of one of the connection's offers, or of an export that exists in the contract namespace.
     */
    template?: string;
    /**
     * APIs to ask for without a template.
     */
    resources?: {
      group: string;
      resource: string;
      versions: string[];
    }[];
    /**
     * Consent to related resources. A claim that is not listed counts as Rejected.
     */
    permissionClaims?: {
      group: string;
      resource: string;
      state: "Accepted" | "Rejected";
    }[];
    /**
     * What to do with an object of the same name that somebody else made on the provider.
     */
    conflictPolicy?: "Fail" | "Adopt";
    /**
     * What becomes of the provider's copies when objects, or this binding, are deleted.
     */
    deletionPolicy?: "Delete" | "Orphan";
    /**
     * No object is written on either side while true.
     */
    paused?: boolean;
  };
  status?: {
    phase?: "Pending" | "Binding" | "Ready" | "Degraded" | "Paused" | "Deleting";
    observedGeneration?: number;
    apis?: {
      group: string;
      resource: string;
      kind?: string;
      scope?: "Cluster" | "Namespaced";
      versions?: string[];
      /**
       * Name of the APIResourceSchema that serves it.
       */
      schema?: string;
    }[];
    apiExport?: {
      path?: string;
      name?: string;
    };
    apiBinding?: string;
    sync?: {
      objects?: number;
      pending?: number;
      failing?: number;
      lastSyncTime?: string;
    };
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
