import { MiniBrowser, forms, type Page } from './mini-browser.js';

/** What the login pages led to. */
export interface FinishedLogin {
  readonly browser: MiniBrowser;
  /** The page after the backend's callback: the catalogue, or a page that sends back to the terminal. */
  readonly page: Page;
}

/**
 * Does what a person does after opening a login URL: types the code where one is asked for, consents, and is
 * let in by the backend's embedded login.
 */
export async function finishLogin(url: string, userCode?: string): Promise<FinishedLogin> {
  const browser = new MiniBrowser();
  let page = await browser.get(url);
  if (page.status >= 400) throw new Error(`the login page answered ${page.status}: ${text(page)}`);
  const asksForCode = forms(page).find((form) => /code/i.test([...form.fields.keys()].join(' ')));
  if (asksForCode && userCode !== undefined) {
    const field = [...asksForCode.fields.keys()].find((name) => /code/i.test(name)) ?? 'code';
    page = await browser.submit(page, asksForCode, { [field]: userCode });
  }
  const consent = forms(page).find((form) => form.method === 'post');
  if (page.status >= 400 || !consent) throw new Error(`no consent page at ${page.url}: ${text(page)}`);
  page = await browser.submit(page, consent);
  if (page.status >= 400) throw new Error(`the login ended with ${page.status}: ${text(page)}`);
  return { browser, page };
}

/** A page's words, for messages. */
export function text(page: Page): string {
  return page.html
    .replace(/<style[\s\S]*?<\/style>/gi, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 600);
}
