import type { FastifyInstance } from 'fastify';
import type { Logger } from '../telemetry/logger.js';
import { sendPage } from './login-pages.js';
import { problemPage } from './pages/problem-page.js';
import { PROBLEMS, PageProblem } from './problems.js';
import type { ProblemCode } from './problems.js';

/** Every answer that is not a page of its own is a problem page; what is not foreseen goes into the log. */
export function answerProblems(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler((error, _request, reply) => {
    const problem = asProblem(error);
    const { status } = PROBLEMS[problem.code];
    if (problem.code === 'internal') log.error({ err: error }, 'a request failed');
    else if (problem.cause !== undefined)
      log.warn({ problem: problem.code, err: problem.cause }, 'a request was refused');
    return sendPage(reply, problemPage(problem), status);
  });
  app.setNotFoundHandler((_request, reply) =>
    sendPage(reply, problemPage(new PageProblem('not-found')), PROBLEMS['not-found'].status),
  );
}

const BY_STATUS: Readonly<Record<number, ProblemCode>> = {
  413: 'too-large',
  415: 'not-a-form',
  404: 'not-found',
};

function asProblem(error: unknown): PageProblem {
  if (error instanceof PageProblem) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (!(status >= 400 && status < 500)) return new PageProblem('internal', { cause: error });
  return new PageProblem(BY_STATUS[status] ?? 'bad-request');
}

/** What is needed of a socket. */
interface RawConnection {
  readonly writable: boolean;
  destroy(): unknown;
  end(text: string): unknown;
}

/** A request that cannot even be parsed: nothing of it is looked at, quoted or logged. */
export function endBrokenConnection(error: Error & { code?: string }, socket: RawConnection): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status =
    error.code === 'HPE_HEADER_OVERFLOW' ? '431 Request Header Fields Too Large' : '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
}
