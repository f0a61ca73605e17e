/** One rule of the published list of label and annotation keys that never travel to the provider. */
export interface BookkeepingRule {
  /**
   * - `key`: exactly this key
   * - `domain`: every key whose part before the slash is this domain or ends with `.` and this domain
   */
  readonly match: 'key' | 'domain';
  readonly value: string;
  /** Whose bookkeeping it is. */
  readonly owner: string;
  /** What would go wrong on the provider. */
  readonly why: string;
}

/**
 * Labels and annotations that stay in the consumer's workspace: they are the notes of tools and servers about
 * that workspace, and the same tools on the provider's side would act on them. All other labels and
 * annotations are copied. This list is part of the product's contract; the documentation renders it.
 */
export const BOOKKEEPING_KEYS: readonly BookkeepingRule[] = [
  {
    match: 'domain',
    value: 'kube-bind.io',
    owner: 'kube-bind and this program',
    why: 'ownership is proven by these keys: only the sync itself may set them',
  },
  {
    match: 'domain',
    value: 'kubebind.io',
    owner: 'kube-bind',
    why: 'older spelling of the same domain',
  },
  { match: 'domain', value: 'kbind.io', owner: 'kube-bind', why: 'ownership keys of its second generation' },
  {
    match: 'domain',
    value: 'kcp.io',
    owner: 'kcp',
    why: 'logical cluster and permission claims of the workspace; a provider that is kcp would misread them',
  },
  {
    match: 'key',
    value: 'kubectl.kubernetes.io/last-applied-configuration',
    owner: 'kubectl apply',
    why: 'a second copy of the object that counts twice against the size limit of annotations',
  },
  {
    match: 'domain',
    value: 'applyset.kubernetes.io',
    owner: 'kubectl apply --applyset',
    why: 'a prune on the provider would take the copy for its own',
  },
  {
    match: 'domain',
    value: 'argocd.argoproj.io',
    owner: 'Argo CD',
    why: "the provider's Argo CD would prune the copy, or run it as a hook",
  },
  {
    match: 'key',
    value: 'app.kubernetes.io/instance',
    owner: 'Argo CD and Helm',
    why: 'Argo CD tracks what it may prune by this label unless configured otherwise',
  },
  {
    match: 'key',
    value: 'app.kubernetes.io/managed-by',
    owner: 'Helm',
    why: 'says who manages the object, which is true in the workspace only',
  },
  { match: 'domain', value: 'helm.sh', owner: 'Helm', why: 'release ownership, hooks and resource policies' },
  {
    match: 'domain',
    value: 'fluxcd.io',
    owner: 'Flux',
    why: "the provider's Flux would garbage-collect the copy",
  },
  {
    match: 'domain',
    value: 'kapp.k14s.io',
    owner: 'kapp',
    why: "the provider's kapp would take the copy for part of its app",
  },
  {
    match: 'domain',
    value: 'configsync.gke.io',
    owner: 'Config Sync',
    why: 'a Config Sync on the provider would manage the copy',
  },
  {
    match: 'domain',
    value: 'configmanagement.gke.io',
    owner: 'Config Sync',
    why: 'a Config Sync on the provider would manage the copy',
  },
  {
    match: 'domain',
    value: 'cli-utils.sigs.k8s.io',
    owner: 'kpt and Config Sync',
    why: 'inventory ownership',
  },
  {
    match: 'key',
    value: 'config.k8s.io/owning-inventory',
    owner: 'kpt and Config Sync',
    why: 'inventory ownership',
  },
  {
    match: 'domain',
    value: 'objectset.rio.cattle.io',
    owner: 'Rancher Fleet',
    why: "the provider's Fleet would prune the copy",
  },
  {
    match: 'domain',
    value: 'fleet.cattle.io',
    owner: 'Rancher Fleet',
    why: "the provider's Fleet would prune the copy",
  },
];

const KEYS = new Set(BOOKKEEPING_KEYS.filter((rule) => rule.match === 'key').map((rule) => rule.value));
const DOMAINS = new Set(BOOKKEEPING_KEYS.filter((rule) => rule.match === 'domain').map((rule) => rule.value));

/** True for a label or annotation key on the published list. */
export function isBookkeepingKey(key: string): boolean {
  if (KEYS.has(key)) return true;
  const slash = key.indexOf('/');
  if (slash < 0) return false;
  let domain = key.slice(0, slash);
  for (;;) {
    if (DOMAINS.has(domain)) return true;
    const dot = domain.indexOf('.');
    if (dot < 0) return false;
    domain = domain.slice(dot + 1);
  }
}
