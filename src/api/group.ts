import type { Gvr } from './gvr.js';

/** API group of both kinds and prefix of every label, annotation and finalizer of ours. */
export const GROUP = 'kcp.kube-bind.io';
export const VERSION = 'v1alpha1';

/** Name of the client export unless configured otherwise. */
export const CLIENT_EXPORT = 'kcp.kube-bind.io';

export const CONNECTIONS: Gvr = { group: GROUP, version: VERSION, resource: 'kubebindconnections' };
export const BINDINGS: Gvr = { group: GROUP, version: VERSION, resource: 'kubebindbindings' };
export const CONNECTION_KIND = 'KubeBindConnection';
export const BINDING_KIND = 'KubeBindBinding';
