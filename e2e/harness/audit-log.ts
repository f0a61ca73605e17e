import { readFile } from 'node:fs/promises';

/** One write to an API server, from its audit log. */
export interface AuditedWrite {
  readonly user: string;
  readonly verb: string;
  readonly uri: string;
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface AuditLine {
  user?: { username?: string };
  verb?: string;
  requestURI?: string;
  responseStatus?: { code?: number };
  requestReceivedTimestamp?: string;
  stage?: string;
}

/** All writes since a moment, in order. A torn last line is left out. */
export async function writesSince(file: string, since: number): Promise<AuditedWrite[]> {
  const writes: AuditedWrite[] = [];
  for (const line of (await readFile(file, 'utf8')).split('\n')) {
    const event = parseLine(line);
    if (event?.stage !== 'ResponseComplete') continue;
    const at = Date.parse(event.requestReceivedTimestamp ?? '');
    if (at < since) continue;
    writes.push({
      user: event.user?.username ?? '',
      verb: event.verb ?? '',
      uri: event.requestURI ?? '',
      status: event.responseStatus?.code ?? 0,
      at,
    });
  }
  return writes;
}

function parseLine(line: string): AuditLine | undefined {
  try {
    return JSON.parse(line) as AuditLine;
  } catch {
    return undefined;
  }
}
