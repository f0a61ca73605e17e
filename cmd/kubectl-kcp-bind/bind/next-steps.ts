import { printable } from '../output/printable.js';
import type { Binding } from '../typed-objects.js';

/** What a user can do with bindings that are Ready: one line for each API and a few general ones. */
export function nextSteps(bindings: readonly Binding[]): string {
  const apis = bindings.flatMap((binding) => binding.status?.apis ?? []);
  const lines = apis.map((api) => {
    const name = printable(api.group === '' ? api.resource : `${api.resource}.${api.group}`, 200);
    const flag = api.scope === 'Namespaced' ? ' --all-namespaces' : '';
    return `  kubectl get ${name}${flag}${api.kind === undefined ? '' : `    # ${printable(api.kind, 80)}`}`;
  });
  const names = bindings.map((binding) => binding.metadata.name).join(', ');
  const first = apis[0];
  return [
    `Bound: ${names}. The API is served in this workspace; try:`,
    ...lines,
    ...(first === undefined ? [] : [`  kubectl explain ${printable(first.resource, 100)}`]),
    '  kubectl kcp bind list',
  ].join('\n');
}
