import { describe, expect, it } from '@jest/globals';
import { schemaName } from '../../api/names.js';
import { expectReason } from '../../api/testing/expect-reason.js';
import type { ResourceSchemaSpec } from '../../schema/resource-schema.js';
import { converted, widgetSpec } from '../testing/fake-world.js';
import { REF } from '../testing/observations.js';
import type { LiveSchema } from './schema-plan.js';
import { SchemaPlanner } from './schema-planner.js';

function withVersions(...names: string[]): ResourceSchemaSpec {
  const [version] = widgetSpec().versions;
  if (version === undefined) throw new Error('no version');
  const versions = names.map((name, i) => ({ ...version, name, storage: i === names.length - 1 }));
  return {
    ...widgetSpec(),
    versions,
    ...(names.length > 1 ? { conversion: { strategy: 'None' as const } } : {}),
  };
}

function live(spec: ResourceSchemaSpec, storageVersions: readonly string[] = ['v1']): LiveSchema {
  const { group, resource, contentHash } = converted(spec);
  const name = schemaName(REF, { plural: resource, group }, contentHash);
  return { group, resource, name, spec, storageVersions };
}

function plan(spec: ResourceSchemaSpec | undefined, now: readonly LiveSchema[]) {
  return planAll(spec && [spec], now);
}

async function planAll(specs: readonly ResourceSchemaSpec[] | undefined, now: readonly LiveSchema[]) {
  let loads = 0;
  const planner = new SchemaPlanner();
  const view = await planner.plan(REF, {
    reported: specs?.map(converted),
    live: now.map((schema) => ({ ...schema, spec: undefined })),
    loadSpecs: async () => {
      loads += 1;
      return now;
    },
  });
  return { ...view, loads };
}

describe('planning schemas', () => {
  it('takes the first ones as they come', async () => {
    const { decision, served } = await plan(widgetSpec(), []);
    expect(decision).toMatchObject({
      kind: 'usable',
      schemas: [{ group: 'example.test', resource: 'widgets' }],
    });
    expect(served).toEqual([]);
  });

  it('reads no specs while the same is served that the provider has', async () => {
    const { decision, served, loads } = await plan(widgetSpec(), [live(widgetSpec())]);
    expect(loads).toBe(0);
    expect(decision).toMatchObject({ kind: 'usable' });
    expect(served).toMatchObject([{ schema: live(widgetSpec()).name }]);
  });

  it('keeps a stored version that the provider dropped, and comes to the same plan again', async () => {
    const before = live(withVersions('v1', 'v2'), ['v1', 'v2']);
    const { decision } = await plan(withVersions('v2'), [before]);
    if (decision?.kind !== 'usable') throw new Error('refused');
    const [schema] = decision.schemas;
    expect(schema?.spec.versions.map(({ name }) => name)).toEqual(['v2', 'v1']);
    expect(decision.apis).toMatchObject([{ syncVersion: 'v2' }]);
    const kept = [{ group: 'example.test', resource: 'widgets', version: 'v1', instead: 'v2' }];
    expect(decision.kept).toEqual(kept);
    const after = live(schema?.spec ?? widgetSpec(), ['v1', 'v2']);
    expect(after.name).toBe(schema?.name);
    const again = await plan(withVersions('v2'), [after]);
    expect(again.decision).toMatchObject({ kind: 'usable', schemas: [{ name: after.name }], kept });
  });

  it('keeps no version any more once the provider serves it again', async () => {
    const kept = live(withVersions('v2', 'v1'), ['v1', 'v2']);
    const { decision } = await plan(withVersions('v1', 'v2'), [kept]);
    expect(decision).toMatchObject({ kind: 'usable', kept: [] });
  });

  it('refuses what kcp cannot take in place, and goes on with what is served', async () => {
    const now = live(widgetSpec());
    const { decision, served } = await plan({ ...widgetSpec(), scope: 'Cluster' }, [now]);
    if (decision?.kind !== 'refused') throw new Error('not refused');
    expectReason('binding/SchemaInSync/Incompatible', decision.condition);
    expect(served).toMatchObject([{ schema: now.name, scope: 'Namespaced' }]);
    expect(decision.serving).toMatchObject({ schemas: [{ name: now.name }], apis: served });
  });

  describe('with several APIs', () => {
    const gadgets = (extra: Readonly<Record<string, unknown>> = {}): ResourceSchemaSpec => ({
      ...widgetSpec(extra),
      names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    });
    const grown = { colour: { type: 'string' } };
    const narrowed = { ...widgetSpec(), scope: 'Cluster' as const };

    it('lets the others follow, and new ones in, when one cannot', async () => {
      const [widgets, gadget] = [live(widgetSpec()), live(gadgets())];
      const parts = { ...gadgets(), names: { ...gadgets().names, plural: 'parts', kind: 'Part' } };
      const offered = [narrowed, gadgets(grown), parts];
      const { decision, served } = await planAll(offered, [widgets, gadget]);
      if (decision?.kind !== 'refused') throw new Error('not refused');
      expect(decision.condition.message).toContain('widgets.example.test: scope');
      expect(decision.condition.message).not.toContain('gadgets');
      const names = decision.serving?.schemas.map(({ name }) => name);
      expect(names).toEqual([live(gadgets(grown)).name, live(parts).name, widgets.name]);
      expect(decision.serving?.apis.map(({ schema }) => schema)).toEqual(names);
      expect(served.map(({ schema }) => schema)).toEqual([widgets.name, gadget.name]);

      const after = [live(gadgets(grown)), live(parts), widgets];
      expect((await planAll(offered, after)).decision).toEqual(decision);
    });

    it('changes nothing where the one that cannot follow could not be made again', async () => {
      const gone = { ...live(widgetSpec()), spec: undefined, storageVersions: ['v0'] };
      const { decision } = await planAll([widgetSpec(grown), gadgets(grown)], [gone, live(gadgets())]);
      expect(decision).toMatchObject({ kind: 'refused', serving: undefined });
    });

    it('takes nothing of any while a worker reports one that it did not convert', async () => {
      const planner = new SchemaPlanner();
      const now = [live(widgetSpec()), live(gadgets())];
      const { decision } = await planner.plan(REF, {
        reported: [converted(gadgets(grown)), { ...converted(widgetSpec()), specJson: '{"group":"x"}' }],
        live: now,
        loadSpecs: async () => now,
      });
      if (decision?.kind !== 'refused') throw new Error('not refused');
      expect(decision.serving?.schemas.map(({ name }) => name)).toEqual(now.map(({ name }) => name));
    });
  });

  it('refuses to lose an API that the provider does not report any more', async () => {
    const other = { ...live(widgetSpec()), resource: 'gadgets' };
    const { decision } = await plan(widgetSpec(), [live(widgetSpec()), other]);
    expect(decision).toMatchObject({ kind: 'refused', condition: { reason: 'Incompatible' } });
  });

  describe('of a provider that converts versions by a webhook', () => {
    const hooked = (spec: ResourceSchemaSpec) => ({ ...converted(spec), webhook: true });
    const planHooked = (spec: ResourceSchemaSpec, now: readonly LiveSchema[]) =>
      new SchemaPlanner().plan(REF, { reported: [hooked(spec)], live: now, loadSpecs: async () => now });

    it('refuses to serve another version than the one that kcp holds objects in', async () => {
      const now = live(withVersions('v1'));
      const { decision } = await planHooked(withVersions('v2'), [now]);
      if (decision?.kind !== 'refused') throw new Error('not refused');
      expect(decision.condition.message).toContain(
        'version v1: the provider converts it to v2 by a webhook, which kcp cannot call',
      );
      expect(decision.serving?.schemas.map(({ name }) => name)).toEqual([now.name]);
    });

    it('follows changes of the one version that is served', async () => {
      const { decision } = await planHooked(widgetSpec({ colour: { type: 'string' } }), [live(widgetSpec())]);
      expect(decision).toMatchObject({ kind: 'usable' });
      expect((await planHooked(widgetSpec(), [])).decision).toMatchObject({ kind: 'usable' });
    });
  });

  it('keeps what is served while no worker has reported', async () => {
    const now = live(widgetSpec());
    const { decision, served } = await plan(undefined, [now]);
    expect(decision).toMatchObject({ kind: 'usable', schemas: [{ name: now.name }] });
    expect(served).toMatchObject([{ schema: now.name, kind: 'Widget' }]);
    expect((await plan(undefined, [])).decision).toBeUndefined();
  });

  describe('when somebody pointed the export at another schema', () => {
    const own = live(withVersions('v1'), ['v1', 'v9']);
    const foreign = { ...own, name: 'somebody.widgets.example.test', foreign: withVersions('v9') };

    it.each([
      ['the provider has reported', withVersions('v1')],
      ['no worker has reported', undefined],
    ])('plans the union of the stored versions while %s', async (_, reported) => {
      const { decision } = await plan(reported, [foreign]);
      if (decision?.kind !== 'usable') throw new Error('refused');
      expect(decision.schemas[0]?.spec.versions.map(({ name }) => name)).toEqual(['v1', 'v9']);
      expect(decision.apis).toMatchObject([{ syncVersion: 'v1' }]);
      const repaired = live(decision.schemas[0]?.spec ?? widgetSpec(), ['v1', 'v9']);
      expect(repaired.name).toBe(decision.schemas[0]?.name);
      expect(await plan(reported, [repaired])).toMatchObject({
        decision: { kind: 'usable', schemas: [{ name: repaired.name }] },
      });
    });

    it('goes back to what was served also while the provider cannot be followed', async () => {
      const { decision } = await plan({ ...withVersions('v1'), scope: 'Cluster' }, [foreign]);
      if (decision?.kind !== 'refused') throw new Error('not refused');
      expect(decision.serving?.schemas[0]?.spec.versions.map(({ name }) => name)).toEqual(['v1', 'v9']);
      expect(decision.serving?.apis).toMatchObject([{ scope: 'Namespaced' }]);
    });

    it('goes back to the own kind and scope', async () => {
      const other = { ...widgetSpec(), scope: 'Cluster' as const };
      const { decision } = await plan(widgetSpec(), [
        { ...live(widgetSpec()), name: foreign.name, foreign: other },
      ]);
      expect(decision).toMatchObject({ kind: 'usable', schemas: [{ name: live(widgetSpec()).name }] });
    });
  });

  it('takes nothing that a worker did not convert', async () => {
    const forged = { ...converted(widgetSpec()), specJson: '{"group":"x"}' };
    const view = await new SchemaPlanner().plan(REF, {
      reported: [forged],
      live: [],
      loadSpecs: async () => [],
    });
    expect(view.decision).toMatchObject({ kind: 'refused', condition: { reason: 'Unsupported' } });
  });

  it('works once for the same inputs', async () => {
    const planner = new SchemaPlanner();
    const inputs = { reported: [converted(widgetSpec())], live: [], loadSpecs: async () => [] };
    expect(await planner.plan(REF, inputs)).toBe(await planner.plan(REF, inputs));
  });
});
