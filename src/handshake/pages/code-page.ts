import { markup } from '../html.js';
import { csrfField } from './page.js';
import type { Page } from './page.js';

/** Asks for the user code of a login that was started without the plugin. */
export function codePage(view: {
  readonly action: string;
  readonly csrf: string;
  readonly connection: string;
  /** Tries that are left after a wrong code; absent at first. */
  readonly triesLeft?: number;
}): Page {
  const isWrong = view.triesLeft !== undefined;
  const described = isWrong && markup` aria-invalid="true" aria-describedby="wrong"`;
  return {
    title: isWrong ? 'Wrong code - log in' : 'Log in',
    body: markup`<h1>Type the code of this login</h1>
<p>The code stands in <code>status.authentication.userCode</code> of the connection:</p>
<p><code>kubectl get kubebindconnection ${view.connection} -o jsonpath='{.status.authentication.userCode}'</code></p>
${isWrong && markup`<p class="bad" role="alert" id="wrong">That was not the code. Tries left: ${view.triesLeft}.</p>`}
<form method="post" action="${view.action}" class="card">
${csrfField(view.csrf)}
<p><label for="code">Code</label></p>
<p><input type="text" id="code" name="code" required maxlength="32" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false"${described}></p>
<p><button type="submit">Go on</button></p>
</form>`,
  };
}
