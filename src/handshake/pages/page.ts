import { Html, markup } from '../html.js';
import { STYLE } from './style.js';

/** A whole page, not yet sent. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Seconds after which the browser loads the page again. */
  readonly refreshSeconds?: number;
  /**
   * Where a form of this page may lead to in the end. A browser checks a form's redirects against it, so the page
   * that sends people to a backend, and on to whatever the backend logs them in with, names schemes.
   */
  readonly formTargets?: readonly string[];
}

/** The document of a page. */
export function renderPage(page: Page): string {
  const { refreshSeconds } = page;
  const refresh =
    refreshSeconds !== undefined && markup`<meta http-equiv="refresh" content="${refreshSeconds}">\n`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh}<title>${page.title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
${page.body}
</main>
</body>
</html>
`.text;
}

/** A form that only holds a button. */
export function buttonForm(action: string, csrf: string, label: string): Html {
  return markup`<form method="post" action="${action}">
${csrfField(csrf)}
<p><button type="submit">${label}</button></p>
</form>`;
}

/** The hidden field that only a page of ours can fill in. */
export function csrfField(csrf: string): Html {
  return markup`<input type="hidden" name="csrf" value="${csrf}">`;
}
