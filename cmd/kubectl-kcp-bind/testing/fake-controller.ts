import type { KubeObject } from '../../../src/kube/object.js';
import type { Offer } from '../typed-objects.js';
import { SHIPPED_CLAIMS } from '../bind/client-claims.js';
import type { FakeWorkspace, Reaction } from './fake-workspace.js';

export const COWBOYS: Offer = {
  template: 'cowboys',
  title: 'Cowboys',
  scope: 'Namespaced',
  resources: [{ group: 'wildwest.dev', resource: 'cowboys', versions: ['v1alpha1'] }],
  permissionClaims: [{ group: '', resource: 'secrets', selector: 'label app=cowboy' }],
};
export const SHERIFFS: Offer = {
  template: 'sheriffs',
  scope: 'Cluster',
  resources: [{ group: 'wildwest.dev', resource: 'sheriffs', versions: ['v1alpha1'] }],
};

/** How the fake controller behaves. */
export interface ControllerScript {
  readonly offers: readonly Offer[];
  readonly loginUrl: string;
  /** `never`: nobody logs in; `wait`: `login` is called by the test; `no-pages`: the controller has none. */
  readonly login: 'never' | 'at-once' | 'wait' | 'no-pages';
  /** Conditions of a new binding; undefined: it becomes Ready at once. */
  readonly bindingConditions?: readonly object[] | undefined;
}

/** Reacts to writes as kcp and a controller that works would. */
export function playController(script: ControllerScript): Reaction {
  return (object, workspace) => {
    if (object.metadata.deletionTimestamp !== undefined) return;
    if (object.kind === 'APIBinding') bound(object, workspace);
    if (object.kind === 'KubeBindConnection') awaitLogin(object, workspace, script);
    if (object.kind === 'KubeBindBinding') serve(object, workspace, script);
  };
}

/** What the controller writes when somebody has logged in. */
export function connected(workspace: FakeWorkspace, name: string, offers: readonly Offer[]): void {
  const generation = workspace.get('kubebindconnections', name)?.metadata.generation ?? 1;
  workspace.setStatus('kubebindconnections', name, {
    phase: 'Connected',
    observedGeneration: generation,
    provider: { prettyName: 'Wild West', version: 'v0.8.2', namespace: 'kube-bind-1' },
    offers: offers.map((offer) => ({ ...offer })) as object[],
    conditions: [condition('Ready', 'True', 'Ready')],
  } as unknown as KubeObject['status']);
}

export function condition(type: string, status: string, reason: string, message = ''): object {
  return { type, status, reason, message, lastTransitionTime: '2026-01-01T00:00:00Z' };
}

function bound(object: KubeObject, workspace: FakeWorkspace): void {
  workspace.setStatus('apibindings', object.metadata.name, {
    phase: 'Bound',
    apiExportClusterName: 'clientcluster',
    exportPermissionClaims: object.metadata.name.startsWith('kbb-') ? [] : [...SHIPPED_CLAIMS],
    boundResources: object.metadata.name.startsWith('kbb-')
      ? []
      : [
          { group: 'kcp.kube-bind.io', resource: 'kubebindconnections' },
          { group: 'kcp.kube-bind.io', resource: 'kubebindbindings' },
        ],
  });
}

function awaitLogin(object: KubeObject, workspace: FakeWorkspace, script: ControllerScript): void {
  const { generation, name } = object.metadata;
  const before = object['status'] as { observedGeneration?: number; offers?: object[] } | undefined;
  // A change of labels or annotations asks for no login.
  if (before?.observedGeneration === generation) return;
  const { kubeconfigSecretRef: ref } = object['spec'] as { kubeconfigSecretRef?: { name: string } };
  if (ref !== undefined) {
    takeSecret(workspace, name, ref.name);
    return;
  }
  if (script.login === 'no-pages') {
    workspace.setStatus('kubebindconnections', name, {
      phase: 'Failed',
      observedGeneration: generation ?? 1,
      conditions: [condition('Authenticated', 'False', 'HandshakeUnavailable', 'no --external-url')],
    } as unknown as KubeObject['status']);
    return;
  }
  if (script.login === 'at-once') connected(workspace, name, script.offers);
  else {
    workspace.setStatus('kubebindconnections', name, {
      phase: 'AwaitingLogin',
      observedGeneration: generation ?? 1,
      authentication: { url: `${script.loginUrl}?id=${generation ?? 1}`, expiresAt: '2026-01-01T00:10:00Z' },
      conditions: [condition('Authenticated', 'False', 'AwaitingLogin', 'open the login page')],
    } as unknown as KubeObject['status']);
  }
}

function takeSecret(workspace: FakeWorkspace, name: string, secret: string): void {
  const found = workspace.get('secrets', secret);
  const data = found?.['data'] as { kubeconfig?: string } | undefined;
  if (found?.metadata.labels?.['kcp.kube-bind.io/credentials'] === 'true' && data?.kubeconfig !== undefined) {
    connected(workspace, name, []);
  } else {
    workspace.setStatus('kubebindconnections', name, {
      phase: 'Failed',
      conditions: [condition('Authenticated', 'False', 'SecretNotFound', `no Secret ${secret}`)],
    } as unknown as KubeObject['status']);
  }
}

function serve(object: KubeObject, workspace: FakeWorkspace, script: ControllerScript): void {
  const { generation, name } = object.metadata;
  const spec = object['spec'] as { template?: string };
  const offer = script.offers.find(({ template }) => template === spec.template);
  const conditions = script.bindingConditions ?? [condition('Ready', 'True', 'Ready')];
  workspace.setStatus('kubebindbindings', name, {
    ...(object['status'] as object | undefined),
    observedGeneration: generation ?? 1,
    apis: (offer?.resources ?? []).map((api) => ({ ...api, kind: 'Cowboy', scope: offer?.scope })),
    conditions: [...conditions],
    sync: { objects: 3, failing: 0 },
  } as unknown as KubeObject['status']);
}
