import { createBackendApi } from '../../../src/backend/http/backend-api.js';
import { BackendError } from '../../../src/backend/errors.js';
import { KubeError } from '../../../src/kube/errors.js';
import type { CommandContext } from '../command-context.js';
import { PluginError } from '../errors.js';
import { printable } from '../output/printable.js';
import type { Backend } from '../typed-objects.js';

/**
 * Asks the provider's URL whether it is a kube-bind backend, before anything is created for it.
 *
 * @throws PluginError PROVIDER
 */
export async function checkProvider(context: CommandContext, backend: Backend): Promise<void> {
  const phase = context.report.progress.phase(`Looking at ${new URL(backend.url).host}`);
  const http = await context.effects.createHttp();
  try {
    const api = createBackendApi({
      http,
      url: backend.url,
      ...(backend.caBundle === undefined ? {} : { ca: backend.caBundle }),
    });
    const info = await api.provider(context.signal);
    const name = info.prettyName === '' ? '' : ` "${printable(info.prettyName, 100)}"`;
    phase.done(
      `${new URL(backend.url).host} is a kube-bind provider${name}, version ${printable(info.version, 60)}`,
    );
  } catch (error) {
    phase.failed();
    context.signal.throwIfAborted();
    throw refusal(error, backend);
  } finally {
    await http.close();
  }
}

function refusal(error: unknown, backend: Backend): unknown {
  if (error instanceof BackendError) {
    return new PluginError({
      code: 'PROVIDER',
      message: error.message,
      remedy: 'nothing was created; run the command again with the right URL',
      cause: error,
    });
  }
  if (error instanceof KubeError) {
    return new PluginError({
      code: 'PROVIDER',
      message: `the provider ${backend.url} cannot be reached from here: ${printable(error.message, 300)}`,
      remedy:
        'nothing was created; check the URL (and --ca-file). If only the controller can reach it, add --no-provider-check',
      cause: error,
    });
  }
  return error;
}
