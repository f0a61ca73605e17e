import { CLIENT_EXPORT } from '../../../src/api/group.js';
import { describeExport, searchClientBinding } from '../bind/client-export.js';
import type { CommandContext, Session } from '../command-context.js';
import { PluginError } from '../errors.js';
import { listApiBindings } from '../objects.js';
import { isYes } from '../output/prompt.js';
import { printable } from '../output/printable.js';
import { createHostMemory, hostMemoryFile } from './host-memory.js';

/**
 * Compares the host of a login page with the one that was opened for this client export before. The first one is
 * remembered; another one is opened only after the user has agreed, since whoever can write a connection's status could
 * send people to a page of his own. A port makes no other host.
 *
 * @param expected of `--login-host`: that one is taken without a question
 * @throws PluginError DECLINED
 */
export async function confirmLoginHost(
  context: CommandContext,
  session: Session,
  page: { readonly url: string; readonly expected: string | undefined },
): Promise<void> {
  const { effects, environment } = context;
  const host = new URL(page.url).hostname;
  const clientExport = await exportKey(context, session);
  const unique = Buffer.from(effects.randomBytes(6)).toString('hex');
  const memory = createHostMemory(hostMemoryFile(environment), effects.clock, unique);
  const known = await memory.recall(clientExport);
  if (page.expected !== undefined) {
    if (page.expected !== host) throw otherHost(host, page.expected, '--login-host says');
  } else if (known !== undefined && known !== host) await agree(context, host, known);
  if (known !== host) await memory.remember(clientExport, host);
}

async function agree(context: CommandContext, host: string, known: string): Promise<void> {
  if (!context.prompt.available) throw otherHost(host, known, 'up to now it was');
  const question = `The login page is on ${printable(host, 200)} now; up to now it was on ${printable(known, 200)}. Open it? [y/N] `;
  if (!isYes(await context.prompt.ask(question, context.signal))) {
    throw otherHost(host, known, 'up to now it was');
  }
}

function otherHost(host: string, known: string, says: string): PluginError {
  return new PluginError({
    code: 'DECLINED',
    message: `the login page is on ${host}, and ${says} ${known}; it was not opened`,
    remedy: `ask the platform admin whether the controller has moved; if so, add --login-host ${host}`,
  });
}

/** The kcp and the export that the workspace is bound to: one controller serves it. */
async function exportKey(context: CommandContext, session: Session): Promise<string> {
  const search = searchClientBinding(await listApiBindings(session.client, context.signal), {
    path: '',
    name: CLIENT_EXPORT,
  });
  const where = search.kind === 'absent' ? CLIENT_EXPORT : describeExport(search.binding);
  return `${session.address.base} ${where}`;
}
