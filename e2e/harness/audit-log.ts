import { readFile } from 'node:fs/promises';

/** One request to an API server, from its audit log; watches are not in it. */
export interface AuditedRequest {
  readonly user: string;
  /** Logical cluster that it was about. */
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

/** All writes since a moment, in order. */
export async function writesSince(file: string, since: number): Promise<AuditedRequest[]> {
  return (await requestsSince(file, since)).filter(({ verb }) => verb !== 'get' && verb !== 'list');
}

/** All writes, and what the controller and ServiceAccounts read, in order. A torn last line is left out. */
export async function requestsSince(file: string, since: number): Promise<AuditedRequest[]> {
  const lines = (await readFile(file, 'utf8')).split('\n');
  return lines.flatMap((line) => {
    const event = parseLine(line);
    const request = event?.stage === 'ResponseComplete' ? asRequest(event) : undefined;
    return request !== undefined && request.at >= since ? [request] : [];
  });
}

function asRequest({
  user,
  annotations,
  verb,
  requestURI,
  responseStatus,
  requestReceivedTimestamp,
}: AuditLine): AuditedRequest {
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
