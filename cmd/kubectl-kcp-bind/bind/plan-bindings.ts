import type { Binding, ClaimState } from '../typed-objects.js';
import { mergeClaims, sameClaims } from './consent.js';
import { isLeaving } from './same-backend.js';

/** A template that is wanted. */
export interface WantedBinding {
  readonly template: string;
  /** `--name`; else the template's. */
  readonly name: string | undefined;
  /** Answers to claims; undefined: nothing was said, an existing binding keeps its own. */
  readonly claims: readonly ClaimState[] | undefined;
}

/** What is to be done for one wanted template. */
export type BindingStep =
  | {
      readonly kind: 'create';
      readonly name: string;
      readonly template: string;
      readonly claims: readonly ClaimState[];
    }
  | { readonly kind: 'adopt'; readonly binding: Binding }
  /** It exists, and its consent differs from what was said. */
  | { readonly kind: 'consent'; readonly binding: Binding; readonly claims: readonly ClaimState[] }
  /** The name is taken by a binding to something else, or by one that is going. */
  | { readonly kind: 'conflict'; readonly binding: Binding };

/** Decides for one wanted template; a binding to it, under whatever name, is used as it is. */
export function planBinding(
  existing: readonly Binding[],
  connection: string,
  wanted: WantedBinding,
): BindingStep {
  const name = wanted.name ?? wanted.template;
  const fits = (binding: Binding): boolean =>
    binding.spec.connection === connection &&
    binding.spec.template === wanted.template &&
    !isLeaving(binding);
  const same = existing.filter(fits);
  const found =
    same.find((binding) => binding.metadata.name === name) ??
    (wanted.name === undefined ? same[0] : undefined);
  if (found !== undefined) {
    if (wanted.claims === undefined) return { kind: 'adopt', binding: found };
    const old = found.spec.permissionClaims ?? [];
    const claims = mergeClaims(old, wanted.claims);
    return sameClaims(old, claims)
      ? { kind: 'adopt', binding: found }
      : { kind: 'consent', binding: found, claims };
  }
  const taken = existing.find((binding) => binding.metadata.name === name);
  if (taken !== undefined) return { kind: 'conflict', binding: taken };
  return { kind: 'create', name, template: wanted.template, claims: wanted.claims ?? [] };
}
