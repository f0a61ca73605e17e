/** What a problem page says. `what` says what happened, `next` what to do. */
interface ProblemText {
  readonly status: number;
  readonly title: string;
  readonly what: string;
  readonly next: string;
}

/** Every page that says no, by a stable code. */
export const PROBLEMS = {
  'unknown-login': {
    status: 404,
    title: 'This login link is not valid',
    what: 'No login is waiting under this address. It may be mistyped, or a newer login has replaced it.',
    next: 'Use the address that your terminal printed last, or the one in status.authentication.url of the connection.',
  },
  'connection-gone': {
    status: 410,
    title: 'The connection is gone',
    what: 'The connection that this login was made for has been deleted, or replaced by another one of the same name.',
    next: 'Create the connection again and open the address of its new login.',
  },
  'connection-deleting': {
    status: 409,
    title: 'The connection is being deleted',
    what: 'The connection that this login was made for is on its way out, so nothing is set up for it any more.',
    next: 'Wait until it is gone, create it again and open the address of its new login.',
  },
  'workspace-deleting': {
    status: 409,
    title: 'The workspace is being deleted',
    what: 'The workspace of this connection is on its way out, so nothing is set up in it any more.',
    next: 'Use another workspace.',
  },
  superseded: {
    status: 409,
    title: 'A newer login has been asked for',
    what: 'The connection asks for another login since this one was opened.',
    next: 'Use the address that your terminal printed last, or the one in status.authentication.url of the connection.',
  },
  expired: {
    status: 410,
    title: 'This login has expired',
    what: 'It was not finished in time.',
    next: 'Run the login command again in your terminal, or start another login here.',
  },
  ended: {
    status: 410,
    title: 'This login has ended',
    what: 'It led to no account.',
    next: 'Run the login command again in your terminal, or start another login here.',
  },
  'open-from-terminal': {
    status: 403,
    title: 'Open this login from your terminal',
    what: 'This login belongs to the terminal that started it. Its address alone is not enough, so that a forwarded link is of no use to others.',
    next: 'Open the whole address that the terminal printed, or run the login command again.',
  },
  'wrong-verifier': {
    status: 403,
    title: 'This address does not fit the login',
    what: 'The address was not made by the terminal that started this login, or it is not complete.',
    next: 'Copy the whole address that the terminal printed, or run the login command again.',
  },
  'wrong-browser': {
    status: 403,
    title: 'This login belongs to another browser',
    what: 'A login can only be finished in the browser that opened it first, and that browser must keep cookies.',
    next: 'Go back to that browser. If you did not open this login before, somebody else did: start another one.',
  },
  'wrong-nonce': {
    status: 400,
    title: 'This answer belongs to no login of yours',
    what: 'The provider’s answer does not fit the last time this browser was sent there. Nothing was changed.',
    next: 'Finish the login in the tab that was opened last, or go back to the login page and continue again.',
  },
  'bad-form': {
    status: 403,
    title: 'This form cannot be used',
    what: 'The form was opened too long ago, or was not sent from its own page.',
    next: 'Go back, load the page again and send it once more.',
  },
  'handshake-unavailable': {
    status: 409,
    title: 'The workspace cannot be shown',
    what: 'A login needs to show you which workspace it is for, and the workspace does not let this program read that.',
    next: 'Accept the permission claim for logicalclusters (core.kcp.io) on the workspace’s APIBinding to the client export, then load this page again.',
  },
  'no-backend': {
    status: 409,
    title: 'This connection needs no login',
    what: 'It uses a kubeconfig of its own.',
    next: 'Close this page.',
  },
  'kcp-unavailable': {
    status: 503,
    title: 'kcp does not answer',
    what: 'The workspace could not be read or written just now.',
    next: 'Load this page again in a minute.',
  },
  'kcp-refused': {
    status: 409,
    title: 'The workspace did not take it',
    what: 'kcp refused to create what was chosen.',
    next: 'Tell the workspace’s admins what is said here, then load the page again.',
  },
  'backend-unavailable': {
    status: 502,
    title: 'The provider does not answer as it should',
    what: 'The provider’s backend could not be reached, or said something that cannot be used.',
    next: 'Go back to the login page and continue again. If this stays so, tell the provider.',
  },
  'login-refused': {
    status: 403,
    title: 'The provider refused the login',
    what: 'The provider sent you back without an account.',
    next: 'Start another login, or ask the provider for access.',
  },
  'backend-refused': {
    status: 502,
    title: 'The provider gave no usable account',
    what: 'The login went well, but the account that the provider gave for it cannot be used.',
    next: 'Tell the provider what is said here, then start another login.',
  },
  'no-offers': {
    status: 409,
    title: 'The provider offers nothing',
    what: 'The login went well, but the provider has no templates for you to choose from.',
    next: 'Ask the provider to publish a template, then start another login.',
  },
  'session-over': {
    status: 410,
    title: 'The time for choosing is over',
    what: 'The connection stays as it is; only this page cannot be used any more.',
    next: 'Create KubeBindBindings yourself (kubectl kcp bind --help), or log in again.',
  },
  overtaken: {
    status: 409,
    title: 'Something else changed this login',
    what: 'The login was changed at the same moment, perhaps in another tab.',
    next: 'Load this page again.',
  },
  busy: {
    status: 503,
    title: 'Too many logins at this moment',
    what: 'The server handles as many logins as it can.',
    next: 'Go back to the login page and continue again in a minute.',
  },
  'too-many-requests': {
    status: 429,
    title: 'Too many requests',
    what: 'This address has asked too often in a short time.',
    next: 'Wait a minute and try again.',
  },
  'too-large': {
    status: 413,
    title: 'That was too large',
    what: 'The form held more than this page can take.',
    next: 'Go back and send less.',
  },
  'not-a-form': {
    status: 415,
    title: 'That was no form',
    what: 'This page takes forms only.',
    next: 'Go back and use the buttons of the page.',
  },
  'bad-request': {
    status: 400,
    title: 'That request cannot be used',
    what: 'The address or the form is damaged.',
    next: 'Go back to the login page and try again.',
  },
  'not-found': {
    status: 404,
    title: 'There is nothing here',
    what: 'No page has this address.',
    next: 'Use the address that your terminal printed, or the one in status.authentication.url of the connection.',
  },
  internal: {
    status: 500,
    title: 'Something went wrong here',
    what: 'The server failed in a way that it does not know.',
    next: 'Load this page again. If this stays so, tell the platform’s admins the time of day.',
  },
} as const satisfies Record<string, ProblemText>;

export type ProblemCode = keyof typeof PROBLEMS;

/** Ends the handling of a request with a problem page. Nothing in it is secret. */
export class PageProblem extends Error {
  override readonly name = 'PageProblem';
  readonly code: ProblemCode;
  /** More about what happened: text that came from outside, shown escaped and cut. */
  readonly detail: string | undefined;
  /** A way on: a button that posts to a path of ours, or a link. */
  readonly way: ProblemWay | undefined;

  constructor(
    code: ProblemCode,
    extra: {
      readonly detail?: string | undefined;
      readonly way?: ProblemWay | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(code, { cause: extra.cause });
    this.code = code;
    this.detail = extra.detail;
    this.way = extra.way;
  }
}

export type ProblemWay =
  | { readonly kind: 'restart'; readonly action: string; readonly csrf: string }
  | { readonly kind: 'login-page'; readonly href: string };
