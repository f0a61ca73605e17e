import type { CommandContext, Session } from '../command-context.js';
import { EXIT_CODES } from '../exit-codes.js';
import { asObject, type ApiBinding, type Binding, type Connection } from '../typed-objects.js';
import type { BindOptions } from './bind-options.js';
import { nextSteps } from './next-steps.js';
import { waitReady } from './wait-ready.js';

/** What every way to bind works with, once the workspace is bound to the client. */
export interface BindParts {
  readonly context: CommandContext;
  readonly session: Session;
  readonly options: BindOptions;
  readonly client: ApiBinding;
}

/** Waits until the bindings are Ready, unless `--wait=false`, and shows what was made and what can be done with it. */
export async function finish(
  parts: BindParts,
  connection: Connection,
  bindings: readonly Binding[],
): Promise<number> {
  const { client, context, options, session } = parts;
  const ready: Binding[] = [];
  if (options.wait) {
    for (const binding of bindings) ready.push(await waitReady(context, session, binding, client));
  }
  const shown = options.wait ? ready : bindings;
  await context.report.objects([asObject(client), asObject(connection), ...shown.map(asObject)]);
  context.report.result(
    options.wait
      ? nextSteps(ready)
      : `Created, not waited for. See how it goes with: kubectl kcp bind status ${connection.metadata.name}`,
  );
  return EXIT_CODES.ok;
}
