import type { BindingConditionType } from '../../../src/api/conditions.js';
import { explainConnection, isStale, NEEDS_SOMEBODY } from '../bind/explain.js';
import { printable } from '../output/printable.js';
import type { ApiCondition, Binding, Connection } from '../typed-objects.js';

/** What stands between a workspace and objects that are synced, in the order in which it is reached. */
const LINKS = [
  {
    link: 'connection',
    type: 'Connected',
    broken: 'the workspace has no account at the provider that works',
  },
  { link: 'export', type: 'ExportReady', broken: 'the provider has not exported the API to this account' },
  { link: 'schema', type: 'SchemaInSync', broken: "the provider's schema is not served as it is now" },
  { link: 'API', type: 'APIBound', broken: 'kcp does not serve the API in this workspace' },
  { link: 'sync', type: 'Syncing', broken: 'objects do not all reach the provider and come back' },
] as const satisfies readonly { link: string; type: BindingConditionType; broken: string }[];

const UNREPORTED = 'the controller has not reported yet';

/** One link of a binding's chain. */
export interface ChainLink {
  readonly link: (typeof LINKS)[number]['link'];
  /**
   * `waiting`: it may come by itself; `broken`: somebody has to do something; `later`: nothing is known of it before
   * the links in front of it hold.
   */
  readonly state: 'ok' | 'waiting' | 'broken' | 'later';
  /** `Reason: message` of its condition; empty where there is nothing to say. */
  readonly text: string;
}

/** A binding's chain, and what to know about the first link that does not hold. */
export interface Chain {
  readonly links: readonly ChainLink[];
  /** Absent: all links hold. */
  readonly first?: { readonly link: ChainLink; readonly meaning: string; readonly todo: string };
}

/**
 * Follows connection, export, schema, API and sync of one binding.
 *
 * @param connection the one that the binding names, where it exists
 */
export function followChain(binding: Binding, connection: Connection | undefined): Chain {
  const links: ChainLink[] = [];
  let first: ChainLink | undefined;
  for (const { link, type } of LINKS) {
    const condition = binding.status?.conditions?.find((one) => one.type === type);
    const state = stateOf(condition, first !== undefined, isStale(binding));
    const entry: ChainLink = { link, state, text: state === 'later' ? '' : textOf(condition) };
    links.push(entry);
    if (first === undefined && (state === 'broken' || state === 'waiting')) first = entry;
  }
  if (first === undefined) return { links };
  const meaning = LINKS.find(({ link }) => link === first.link)?.broken ?? '';
  return { links, first: { link: first, meaning, todo: whatToDo(first, binding, connection) } };
}

function stateOf(
  condition: ApiCondition | undefined,
  behindTrouble: boolean,
  stale: boolean,
): ChainLink['state'] {
  if (condition?.status === 'True') return 'ok';
  // Reasons of Unknown that hold nothing back are not trouble.
  if (condition?.status === 'Unknown' && condition.reason === 'NotFollowed') return 'ok';
  if (behindTrouble) return 'later';
  return condition?.status === 'False' && NEEDS_SOMEBODY.has(condition.reason) && !stale
    ? 'broken'
    : 'waiting';
}

function textOf(condition: ApiCondition | undefined): string {
  if (condition === undefined) return UNREPORTED;
  if (condition.status === 'True' && condition.message === '') return '';
  const message = condition.message === '' ? '' : `: ${condition.message}`;
  return printable(`${condition.reason}${message}`, 400);
}

function whatToDo(first: ChainLink, binding: Binding, connection: Connection | undefined): string {
  const { metadata, spec } = binding;
  if (first.text === UNREPORTED) {
    return 'wait a moment; where nothing changes, ask the platform admin whether the controller runs, and see kubectl kcp bind doctor';
  }
  if (first.link === 'connection') {
    if (connection === undefined) {
      return `make the connection ${spec.connection} again: kubectl kcp bind URL --connection ${spec.connection}`;
    }
    const standing = explainConnection(connection);
    if (standing.kind !== 'ready') {
      return `the connection says: ${standing.why}. A new login: kubectl kcp bind login ${spec.connection}`;
    }
  }
  if (first.state === 'waiting') {
    return `wait: it goes on by itself (kubectl kcp bind status ${metadata.name} --watch)`;
  }
  return 'do what the message says; the binding goes on by itself';
}
