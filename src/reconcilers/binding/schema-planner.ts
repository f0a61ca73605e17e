import { digest, schemaName } from '../../api/names.js';
import type { ConvertedSchema } from '../../syncer/protocol/report.js';
import { groupResourceKey } from '../claims.js';
import type { BindingRef } from './owner.js';
import { keepSchemas, planSchemas } from './schema-plan.js';
import type { LiveSchema, SchemaView } from './schema-plan.js';

/**
 * Plans schemas once for each change of what they depend on: checking one again takes milliseconds for each
 * 100 KB, and bindings are looked at each second.
 */
export class SchemaPlanner {
  readonly #memo = new Map<string, { readonly signature: string; readonly view: SchemaView }>();

  /**
   * @param live what is served, without specs
   * @param loadSpecs reads the specs; called only when the outcome depends on them
   */
  async plan(
    ref: BindingRef,
    inputs: {
      readonly reported: readonly ConvertedSchema[] | undefined;
      readonly live: readonly LiveSchema[];
      readonly loadSpecs: (live: readonly LiveSchema[]) => Promise<readonly LiveSchema[]>;
      /** Why kcp did not take a schema, by its name. */
      readonly refusals?: ReadonlyMap<string, string>;
    },
  ): Promise<SchemaView> {
    const { reported, live, refusals = new Map<string, string>() } = inputs;
    const signature = digest(
      JSON.stringify([
        reported?.map(({ group, resource, contentHash, webhook }) => [
          group,
          resource,
          contentHash,
          webhook,
        ]) ?? null,
        live.map(({ group, resource, name, storageVersions }) => [group, resource, name, storageVersions]),
        [...refusals],
      ]),
    );
    const key = `${ref.cluster}|${ref.uid}`;
    const known = this.#memo.get(key);
    if (known?.signature === signature) return known.view;
    const view = await decide(ref, inputs);
    this.#memo.set(key, { signature, view });
    return view;
  }

  forget(ref: BindingRef): void {
    this.#memo.delete(`${ref.cluster}|${ref.uid}`);
  }
}

async function decide(
  ref: BindingRef,
  { reported, live, loadSpecs, refusals }: Parameters<SchemaPlanner['plan']>[1],
): Promise<SchemaView> {
  if (reported !== undefined && isSettled(ref, reported, live)) {
    const decision = planSchemas(ref, reported, { live, refusals });
    // With nothing to compare, what is planned is what is served.
    if (decision.kind === 'usable') return { decision, served: live.length === 0 ? [] : decision.apis };
  }
  const withSpecs = live.length === 0 ? [] : await loadSpecs(live);
  const kept = keepSchemas(ref, withSpecs);
  const decision = reported === undefined ? kept : planSchemas(ref, reported, { live: withSpecs, refusals });
  return { decision, served: kept?.apis ?? [] };
}

/** Each API that is served already has the reported content: no spec has to be compared. */
function isSettled(
  ref: BindingRef,
  reported: readonly ConvertedSchema[],
  live: readonly LiveSchema[],
): boolean {
  const names = new Map(live.map((schema) => [groupResourceKey(schema), schema.name]));
  return reported.every((schema) => {
    const name = names.get(groupResourceKey(schema));
    return (
      name === undefined ||
      name === schemaName(ref, { plural: schema.resource, group: schema.group }, schema.contentHash)
    );
  });
}
