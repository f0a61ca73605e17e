import { markup } from '../html.js';
import type { Page } from './page.js';

/** The login is done, and whoever asks now has nothing more to do here. */
export function finishedPage(): Page {
  return {
    title: 'Login finished',
    body: markup`<div class="card">
<h1>The login is finished</h1>
<p role="status">You can close this page and return to your terminal.</p>
</div>`,
  };
}

/** Another login was asked for and is not published yet. */
export function restartedPage(connection: string): Page {
  return {
    title: 'Another login was asked for',
    body: markup`<div class="card">
<h1>Another login was asked for</h1>
<p role="status">Its address appears in the connection’s status in a moment:</p>
<p><code>kubectl get kubebindconnection ${connection} -o jsonpath='{.status.authentication.url}'</code></p>
<p>A terminal that waits for this login prints it by itself.</p>
</div>`,
  };
}
