/**
 * How much a binding is trusted to leave its neighbours alone.
 * - `good`: no worker died with it lately
 * - `suspect`: a worker that it shared with others died
 * - `convicted`: a worker died that it had for itself
 */
export type Standing = 'good' | 'suspect' | 'convicted';

/** A binding as placement sees it. `worker` is where it is now; absent: it must be placed. */
export interface PlacedBinding {
  readonly key: string;
  readonly cluster: string;
  /** Server of the provider. */
  readonly server: string;
  readonly standing: Standing;
  readonly worker: number | undefined;
}

/** Worker of each binding's key. Numbers from `nextWorker` on are new workers. */
export type Arrangement = ReadonlyMap<string, number>;

interface Room {
  readonly worker: number;
  readonly members: PlacedBinding[];
}

interface Group {
  readonly members: readonly PlacedBinding[];
  /** Most workers that the group may have. */
  readonly quota: number;
  /** Bindings in trouble are spread as widely as the quota allows; others stay where they are. */
  readonly spread: boolean;
}

/** A group of this size is never too large for affinity. */
const SMALL_ROOM = 4;

/**
 * Places bindings in at most `maxWorkers` workers. Pure and stable: what it returns is a fixed point.
 *
 * A binding has a worker of its own as long as there is one to have. Then good ones share: with the same
 * workspace first, with the same provider next, else with the fewest; an affinity that would make a worker
 * twice as full as the average does not count. Bindings whose worker died never share with good ones (given
 * two workers) and share among themselves only where there are more of them than workers to spare: half
 * of the workers stay with the good ones, as far as these need them. When a shared worker of suspects dies
 * again they are spread once more, until the one that kills is alone.
 */
export function arrange(
  bindings: readonly PlacedBinding[],
  maxWorkers: number,
  nextWorker: number,
): Arrangement {
  const result = new Map<string, number>();
  const rooms = currentRooms(bindings);
  let next = nextWorker;
  for (const group of groupsOf(bindings, maxWorkers)) {
    for (const room of settle(group, rooms, () => next++)) {
      for (const member of room.members) result.set(member.key, room.worker);
    }
  }
  return result;
}

function currentRooms(bindings: readonly PlacedBinding[]): ReadonlyMap<number, readonly PlacedBinding[]> {
  const rooms = new Map<number, PlacedBinding[]>();
  for (const binding of bindings) {
    if (binding.worker === undefined) continue;
    const members = rooms.get(binding.worker);
    if (members === undefined) rooms.set(binding.worker, [binding]);
    else members.push(binding);
  }
  return rooms;
}

function groupsOf(bindings: readonly PlacedBinding[], maxWorkers: number): readonly Group[] {
  const of = (standing: Standing): PlacedBinding[] =>
    bindings.filter((binding) => binding.standing === standing);
  const good = of('good');
  const suspect = of('suspect');
  const convicted = of('convicted');
  if (maxWorkers === 1) return [{ members: bindings, quota: 1, spread: false }];
  if (maxWorkers === 2 && good.length > 0 && suspect.length > 0 && convicted.length > 0) {
    return [
      { members: [...good, ...suspect], quota: 1, spread: false },
      { members: convicted, quota: 1, spread: true },
    ];
  }
  const forTrouble = Math.max(
    Number(suspect.length > 0) + Number(convicted.length > 0),
    maxWorkers - Math.min(good.length, Math.ceil(maxWorkers / 2)),
  );
  const forConvicted = Math.min(convicted.length, forTrouble - (suspect.length > 0 ? 1 : 0));
  const forSuspect = Math.min(suspect.length, forTrouble - forConvicted);
  return [
    { members: convicted, quota: forConvicted, spread: true },
    { members: suspect, quota: forSuspect, spread: true },
    { members: good, quota: maxWorkers - forConvicted - forSuspect, spread: false },
  ];
}

/** Keeps a group's members where they are as far as its quota and spreading allow, and places the others. */
function settle(
  group: Group,
  current: ReadonlyMap<number, readonly PlacedBinding[]>,
  newWorker: () => number,
): readonly Room[] {
  const kept = ownRooms(group, current);
  const most = group.spread ? Math.ceil(group.members.length / Math.max(group.quota, 1)) : Infinity;
  for (const room of kept) room.members.splice(most);
  const settled = new Set(kept.flatMap((room) => room.members));
  const waiting = group.members.filter((member) => !settled.has(member));
  for (const member of waiting) {
    if (kept.length < group.quota) kept.push({ worker: newWorker(), members: [member] });
    else (group.spread ? leastLoaded(kept) : roommates(kept, member)).members.push(member);
  }
  return kept;
}

/** Workers in which the group has the majority, fullest first, at most its quota. */
function ownRooms(group: Group, current: ReadonlyMap<number, readonly PlacedBinding[]>): Room[] {
  const own = new Set(group.members);
  const rooms: Room[] = [];
  for (const [worker, all] of current) {
    const members = all.filter((member) => own.has(member));
    if (members.length * 2 > all.length) rooms.push({ worker, members });
  }
  rooms.sort((a, b) => b.members.length - a.members.length || a.worker - b.worker);
  return rooms.slice(0, group.quota);
}

function roommates(rooms: readonly Room[], binding: PlacedBinding): Room {
  const total = rooms.reduce((sum, room) => sum + room.members.length, 0);
  const full = Math.max(SMALL_ROOM, 2 * Math.ceil((total + 1) / rooms.length));
  const roomy = rooms.filter((room) => room.members.length < full);
  const sameWorkspace = roomy.filter((room) => room.members.some((each) => each.cluster === binding.cluster));
  if (sameWorkspace.length > 0) return leastLoaded(sameWorkspace);
  const sameProvider = roomy.filter((room) => room.members.some((each) => each.server === binding.server));
  return leastLoaded(sameProvider.length > 0 ? sameProvider : rooms);
}

function leastLoaded(rooms: readonly Room[]): Room {
  const [first, ...others] = rooms;
  if (first === undefined) throw new RangeError('a group without workers has no members to place');
  return others.reduce((best, room) => (room.members.length < best.members.length ? room : best), first);
}
