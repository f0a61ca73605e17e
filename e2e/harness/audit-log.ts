import { readFile } from 'node:fs/promises';

/** One write to an API server, from its audit log. */
export interface AuditedWrite {
  readonly user: string;
  /** Logical cluster that was written to. */
  readonly workspace: string;
  readonly verb: string;
  readonly uri: string;
  readonly status: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

interface AuditLine {
  user?: { username?: string };
  annotations?: Record<string, string>;
  verb?: string;
  requestURI?: string;
  responseStatus?: { code?: number };
  requestReceivedTimestamp?: string;
  stage?: string;
}

/** All writes since a moment, in order. A torn last line is left out. */
export async function writesSince(file: string, since: number): Promise<AuditedWrite[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const event = parseLine(line);
    const write = event?.stage === 'ResponseComplete' ? asWrite(event) : undefined;
    return write !== undefined && write.at >= since ? [write] : [];
  });
}

function asWrite({
  user,
  annotations,
  verb,
  requestURI,
  responseStatus,
  requestReceivedTimestamp,
}: AuditLine): AuditedWrite {
  return {
    user: user?.username ?? '',
    workspace: annotations?.['tenancy.kcp.io/workspace'] ?? '',
    verb: verb ?? '',
    uri: requestURI ?? '',
    status: responseStatus?.code ?? 0,
    at: Date.parse(requestReceivedTimestamp ?? ''),
  };
}

function parseLine(line: string): AuditLine | undefined {
  try {
    return JSON.parse(line) as AuditLine;
  } catch {
    return undefined;
  }
}
