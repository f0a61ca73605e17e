import { untrustedText } from '../../api/untrusted-text.js';
import { markup } from '../html.js';
import { csrfField } from './page.js';
import type { Page } from './page.js';

/** How the connection with the backend is protected. */
export type BackendSecurity = 'system-authorities' | 'own-authorities' | 'none';

/** What a person must know before an account is made. */
export interface ConsentView {
  readonly action: string;
  readonly csrf: string;
  /** Host and port of `spec.backend.url`: the only name that is proven. */
  readonly host: string;
  readonly security: BackendSecurity;
  /** What the provider calls itself; anybody could write that. */
  readonly prettyName: string | undefined;
  readonly workspacePath: string;
  readonly connection: string;
  readonly account: string;
  /** False: whoever may read the connection could have opened this login. */
  readonly provenByTerminal: boolean;
  /** The browser was sent to the backend before. */
  readonly again: boolean;
}

const SECURITY: Readonly<Record<BackendSecurity, string>> = {
  'system-authorities': 'Encrypted; the provider’s certificate is checked with the well-known authorities.',
  'own-authorities':
    'Encrypted; the provider’s certificate is checked with the authorities in spec.backend.caBundle.',
  none: 'Not encrypted: whoever is on the way can read and change everything, the account included.',
};

/** Says with whom the workspace is about to be connected, and what that means. */
export function consentPage(view: ConsentView): Page {
  const { host, workspacePath, connection } = view;
  const prettyName = untrustedText(view.prettyName, 100);
  return {
    title: `Connect to ${host}`,
    formTargets: view.security === 'none' ? ['https:', 'http:'] : ['https:'],
    body: markup`<p class="over">Connect a workspace to</p>
<h1>${host}</h1>
${prettyName !== '' && markup`<p class="caption">It calls itself “${prettyName}”. Go by the address above, not by this name.</p>`}
<div class="card">
<dl>
<dt>Workspace</dt><dd><strong>${workspacePath}</strong></dd>
<dt>Connection</dt><dd>${connection}</dd>
${view.account !== 'default' && markup`<dt>Account</dt><dd>${view.account}</dd>`}
<dt>Protection</dt><dd class="${view.security === 'none' ? 'bad' : 'good'}">${SECURITY[view.security]}</dd>
</dl>
</div>
<h2>What happens when you continue</h2>
<ol>
<li>You log in at ${host}. This page never sees your password.</li>
<li>${host} makes an account <strong>for the workspace</strong>. From then on everybody who uses the bound APIs in ${workspacePath} acts there through this one account, not only you.</li>
<li>The account’s credentials are kept by the operator of this service, outside of the workspace. Nothing appears in the workspace yet: you choose from the provider’s offers afterwards.</li>
</ol>
${
  !view.provenByTerminal &&
  markup`<p class="note">This login was started without the command line. Anybody who may read the connection could have opened it: continue only if you, or somebody you trust, created connection ${connection} in ${workspacePath}.</p>`
}
${
  view.again &&
  markup`<p class="note">You were sent to the provider before. Finish the login in that tab, or continue again here: only the newest one counts.</p>`
}
<form method="post" action="${view.action}">
${csrfField(view.csrf)}
<p><button type="submit">Continue to ${host}</button></p>
</form>
<p class="hint">To stop here, close this page. Nothing has been set up.</p>`,
  };
}
