import type { ReflectorEvent } from '../../src/kube/cache/reflector.js';
import type { KubeClient } from '../../src/kube/client.js';
import { fencedClient } from '../../src/kube/fenced-client.js';
import { openVirtualWorkspace } from '../../src/vw-client/open.js';
import type { VirtualWorkspace } from '../../src/vw-client/virtual-workspace.js';
import { leanObject } from './lean-object.js';
import type { Shared } from './shared.js';

/** Objects of one kind in one workspace; more are not worked on, so that one tenant cannot fill the memory of all. */
const MAX_PER_WORKSPACE = 10_000;

/**
 * The client export's virtual workspace.
 *
 * @param how `mayWrite` decides whether its clients may write (default: yes); `onClientWorkspace` hears how the watch
 * of the client workspace fares
 */
export function openWorkspaces(
  shared: Shared,
  clientWorkspace: KubeClient,
  signal: AbortSignal,
  how: {
    readonly mayWrite?: () => boolean;
    readonly onClientWorkspace?: (event: ReflectorEvent) => void;
  } = {},
): VirtualWorkspace {
  const { mayWrite, onClientWorkspace } = how;
  const { servers, clock, log, config } = shared;
  return openVirtualWorkspace({
    clientWorkspace,
    exportName: config.clientExport,
    connect: (url) => {
      const client = servers.connect(servers.credentialsFor(url));
      return mayWrite ? fencedClient(client, mayWrite) : client;
    },
    clock,
    random: Math.random,
    signal,
    transform: leanObject,
    capacity: { objectsPerCluster: MAX_PER_WORKSPACE },
    limits: { silenceMs: config.syncer.watchSilenceMs },
    onEvent: (event) => {
      log.debug({ component: 'vw-client', event }, 'virtual workspace');
      if (event.type !== 'reflector') return;
      if (event.url === undefined) onClientWorkspace?.(event.event);
      // Without a URL it is the slice, which lies in the client workspace.
      shared.countWatch(event.url === undefined ? 'client-workspace' : 'workspaces', event.event);
    },
  });
}
