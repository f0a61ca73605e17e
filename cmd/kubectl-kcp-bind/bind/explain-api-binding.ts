import { printable } from '../output/printable.js';
import type { ApiBinding } from '../typed-objects.js';

/** The conditions of an APIBinding that say why it is not Bound, the most telling first. */
const ORDER = ['APIExportValid', 'BindingUpToDate', 'InitialBindingCompleted'];

/** What the first False condition says; undefined where none is False. */
export function firstApiBindingTrouble(binding: Pick<ApiBinding, 'status'>): string | undefined {
  const conditions = binding.status?.conditions ?? [];
  for (const type of ORDER) {
    const found = conditions.find((condition) => condition.type === type && condition.status === 'False');
    if (found === undefined) continue;
    const message = found.message ?? '';
    return printable(`${found.reason ?? type}${message === '' ? '' : `: ${message}`}`, 300);
  }
  return undefined;
}
