import type { CrashStep } from './crash-steps.js';
import type { ProxiedRequest } from './fault-proxy.js';

/** A request with the server that it was sent to. */
export interface WireRequest extends ProxiedRequest {
  readonly to: 'consumers' | 'providers';
}

/** A request at which the controller is killed. */
export interface Blow {
  readonly at: (request: WireRequest) => boolean;
  /** `drop`: the server never sees the request. `swallow`: the controller never sees the answer. */
  readonly how: 'drop' | 'swallow';
}

/** How to kill the controller before and after a step. */
export interface Cut {
  readonly before: Blow;
  readonly after: Blow;
}

/** A step that is a request: before is before the server sees it, after is when the server has answered. */
function write(at: Blow['at']): Cut {
  return { before: { at, how: 'drop' }, after: { at, how: 'swallow' } };
}

/**
 * A step that is a message between threads: before is after the last write that leads to it, whose answer the
 * controller never sees; after is before the first request that follows from it, which no server ever sees.
 */
function message(around: { readonly follows: Blow['at']; readonly leadsTo: Blow['at'] }): Cut {
  return { before: { at: around.follows, how: 'swallow' }, after: { at: around.leadsTo, how: 'drop' } };
}

const CLEANUP = 'kcp.kube-bind.io/cleanup';

/** How each step looks on the wire. */
export const ON_THE_WIRE: Readonly<Record<CrashStep, Cut>> = {
  'connection.finalizer.add': write((r) => finalizers(r, 'kubebindconnections') && r.body.includes(CLEANUP)),
  'connection.login.start': write((r) => writesState(r, 'login.json')),
  'connection.account.store': write((r) => writesState(r, 'account.json')),
  'connection.account.update': write(
    (r) => writesState(r, 'account.json') && storedAccount(r).includes('"contractNamespaceUid"'),
  ),
  'connection.status': write((r) => isStatus(r, 'kubebindconnections')),
  'connection.state.remove': write((r) => deletes(r, 'secrets/connection-')),
  'connection.finalizer.remove': write(
    (r) => finalizers(r, 'kubebindconnections') && !r.body.includes(`${CLEANUP}"]`),
  ),
  'binding.finalizer.add': write((r) => finalizers(r, 'kubebindbindings') && r.body.includes(CLEANUP)),
  'binding.worker.assign': message({
    follows: (r) => finalizers(r, 'kubebindbindings') && r.body.includes(CLEANUP),
    leadsTo: (r) => r.to === 'providers' && r.method === 'GET' && r.path.includes('/api/v1/namespaces/'),
  }),
  'binding.identity.create': write((r) => creates(r, 'secrets') && r.body.includes('-identity')),
  'binding.schema.create': write((r) => creates(r, 'apiresourceschemas')),
  'binding.account.create': write((r) => creates(r, 'serviceaccounts')),
  'binding.role.apply': write((r) => creates(r, 'clusterroles')),
  'binding.role-binding.apply': write((r) => creates(r, 'clusterrolebindings')),
  'binding.export.create': write((r) => creates(r, 'apiexports')),
  'binding.export.update': write((r) => r.method === 'PUT' && r.path.includes('/apiexports/kbb-')),
  'binding.bind-role.apply': write((r) => creates(r, 'clusterroles') && /"kbb-[^"]*-bind"/.test(r.body)),
  'binding.bind-role.remove': write((r) => deletesAny(r, /\/clusterrole(binding)?s\/kbb-[^/?]*-bind/)),
  'binding.token.request': write((r) => creates(r, 'token')),
  'binding.api-binding.create': write((r) => creates(r, 'apibindings')),
  'binding.api-binding.update': write((r) => r.method === 'PATCH' && r.path.includes('/apibindings/kbb-')),
  'binding.schema.remove-old': write((r) => deletes(r, 'apiresourceschemas/')),
  'binding.status': write((r) => isStatus(r, 'kubebindbindings')),
  'binding.api-binding.delete': write((r) => deletes(r, 'apibindings/kbb-')),
  'binding.export.delete': write((r) => deletes(r, 'apiexports/kbb-')),
  'binding.schemas.delete': write((r) => deletes(r, 'apiresourceschemas/')),
  'binding.account.delete': write((r) =>
    deletesAny(r, /\/(serviceaccounts|clusterroles|clusterrolebindings)\/kbb-/),
  ),
  'binding.identity.delete': write((r) => deletes(r, 'secrets/kbb-')),
  'binding.worker.release': message({
    follows: (r) => r.to === 'providers' && isStatus(r, 'apiserviceexports'),
    leadsTo: (r) => finalizers(r, 'kubebindbindings') && !r.body.includes(`${CLEANUP}"]`),
  }),
  'binding.finalizer.remove': write(
    (r) => finalizers(r, 'kubebindbindings') && !r.body.includes(`${CLEANUP}"]`),
  ),
  'worker.export-request.create': write((r) => creates(r, 'apiserviceexportrequests')),
  'worker.service-namespace.create': write((r) => creates(r, 'apiservicenamespaces')),
  'worker.heartbeat': write(
    (r) => r.method === 'PATCH' && r.path.includes('/clusterbindings/cluster/status'),
  ),
  'worker.object.finalizer.add': write((r) => r.method === 'PATCH' && isDatabase(r, 'consumers')),
  'worker.copy.create': write((r) => r.method === 'PATCH' && isDatabase(r, 'providers')),
  'worker.object.status': write((r) => r.method === 'PUT' && /\/databases\/[^/]+\/status/.test(r.path)),
  'worker.copy.delete': write((r) => r.method === 'DELETE' && isDatabase(r, 'providers')),
  'worker.object.finalizer.remove': write((r) => r.method === 'PATCH' && isDatabase(r, 'consumers')),
  'worker.service-namespace.delete': write((r) => deletes(r, 'apiservicenamespaces/')),
  'worker.export-request.delete': write((r) => deletes(r, 'apiserviceexportrequests/')),
};

function creates(r: WireRequest, resource: string): boolean {
  return r.method === 'POST' && new RegExp(`/${resource}(\\?|$)`).test(r.path);
}

function deletes(r: WireRequest, target: string): boolean {
  return r.method === 'DELETE' && r.path.includes(`/${target}`);
}

function deletesAny(r: WireRequest, path: RegExp): boolean {
  return r.method === 'DELETE' && path.test(r.path);
}

function finalizers(r: WireRequest, resource: string): boolean {
  return (
    r.method === 'PATCH' &&
    new RegExp(`/${resource}/[^/?]+(\\?|$)`).test(r.path) &&
    r.body.includes('finalizers')
  );
}

function isStatus(r: WireRequest, resource: string): boolean {
  return r.method !== 'GET' && new RegExp(`/${resource}/[^/]+/status(\\?|$)`).test(r.path);
}

/** A write of a connection's state with that record in it. */
function writesState(r: WireRequest, record: string): boolean {
  return (
    (r.method === 'POST' || r.method === 'PUT') &&
    r.path.includes('/secrets') &&
    r.body.includes('"connection-') &&
    r.body.includes(`"${record}"`)
  );
}

/** The record of the account in a write of a connection's state. */
function storedAccount(r: WireRequest): string {
  const { data } = JSON.parse(r.body) as { data: Record<string, string> };
  return Buffer.from(data['account.json'] ?? '', 'base64').toString();
}

function isDatabase(r: WireRequest, to: WireRequest['to']): boolean {
  return r.to === to && /\/databases\/[^/?]+(\?|$)/.test(r.path);
}
