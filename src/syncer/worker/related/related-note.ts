export interface RelatedFacts {
  readonly kind: string;
  readonly accepted: boolean;
  /** Copies that this binding made, in words. */
  readonly copies: readonly string[];
  /** Parts of the claim that are not understood. */
  readonly refused: readonly string[];
  /** APIs that the claim refers from but the binding does not serve. */
  readonly unknownApis: readonly string[];
  /** About references that cannot be followed. */
  readonly references: string | undefined;
}

const MAX_NAMED = 10;

/** What a user should know about one claimed resource although nothing fails; undefined for nothing. Pure. */
export function relatedNote(facts: RelatedFacts): string | undefined {
  const { kind, accepted, copies, refused, unknownApis, references } = facts;
  const parts: string[] = [];
  if (!accepted && copies.length > 0) {
    parts.push(
      `There is no consent to ${kind} any more: their sync has stopped, and these copies stay as they are: ${list(copies)}.`,
    );
  }
  if (refused.length > 0)
    parts.push(`Of the provider's claim on ${kind} these parts move nothing: ${list(refused)}.`);
  if (unknownApis.length > 0)
    parts.push(
      `References to a ${kind} from ${list(unknownApis)} are not followed: this binding does not serve it.`,
    );
  if (references !== undefined) parts.push(references);
  return parts.length === 0 ? undefined : parts.join(' ');
}

function list(items: readonly string[]): string {
  const more = items.length - MAX_NAMED;
  const shown = items.slice(0, MAX_NAMED).join(', ');
  return more > 0 ? `${shown} and ${String(more)} more` : shown;
}
