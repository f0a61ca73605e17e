import { CONSUMER_GENERATION_ANNOTATION } from '../../api/markers.js';
import type { KubeObject } from '../../kube/object.js';
import { member } from './field-access.js';

/** Generation of the consumer's object that a copy says it was made from; 0 where it says nothing sensible. */
export function sentGeneration(copy: KubeObject): number {
  const text = member(copy.metadata.annotations, CONSUMER_GENERATION_ANNOTATION);
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}
