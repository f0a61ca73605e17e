import { readFile } from 'node:fs/promises';

/**
 * Policy of every API server of the bench. Every write is logged with its user; so are reads of the controller, which
 * may be at rest, and of ServiceAccounts.
 */
export const AUDIT_POLICY = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    verbs: [create, update, patch, delete, deletecollection]
  - level: Metadata
    verbs: [get, list]
    users: [controller]
  - level: Metadata
    verbs: [get, list]
    userGroups: [system:serviceaccounts]
  - level: None
`;

/** One request to an API server, from its audit log; watches are not in it. */
export interface AuditedRequest {
  readonly user: string;
  /** Logical cluster that it was about; empty on a plain Kubernetes. */
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
