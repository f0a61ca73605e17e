/** A page as a person would see it, reduced to what a test clicks on. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly html: string;
}

/** A form on a page: its fields with their present values. */
export interface Form {
  readonly action: string;
  readonly method: 'get' | 'post';
  readonly fields: ReadonlyMap<string, string>;
  /** Names and values of check boxes, ticked or not. */
  readonly choices: readonly { readonly name: string; readonly value: string }[];
}

/**
 * A browser without scripts, enough for the login pages: cookies by host, redirects, forms. Each hop is
 * remembered, so that a test can look at what a browser's history would hold.
 */
export class MiniBrowser {
  readonly history: string[] = [];
  readonly #cookies = new Map<string, Map<string, string>>();

  async get(url: string): Promise<Page> {
    return this.#go(url, { method: 'GET' });
  }

  /** Fills a form and sends it. `values` replaces fields; undefined leaves a field out. */
  async submit(page: Page, form: Form, values: Record<string, string | undefined> = {}): Promise<Page> {
    const fields = new URLSearchParams();
    for (const [name, value] of form.fields) if (!(name in values)) fields.append(name, value);
    for (const [name, value] of Object.entries(values)) if (value !== undefined) fields.append(name, value);
    const target = new URL(form.action === '' ? page.url : form.action, page.url);
    if (form.method === 'get') {
      target.search = fields.toString();
      return this.#go(target.href, { method: 'GET' });
    }
    return this.#go(target.href, {
      method: 'POST',
      body: fields.toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: new URL(page.url).origin },
    });
  }

  async #go(start: string, request: RequestInit): Promise<Page> {
    let url = start;
    let init = request;
    for (let hop = 0; hop < 20; hop += 1) {
      this.history.push(url);
      const headers = new Headers(init.headers);
      const cookie = this.#cookieHeader(url);
      if (cookie !== '') headers.set('cookie', cookie);
      const response = await fetch(url, { ...init, headers, redirect: 'manual' });
      this.#keepCookies(url, response);
      const location = response.headers.get('location');
      if (location === null || response.status < 300 || response.status >= 400) {
        return { url, status: response.status, html: await response.text() };
      }
      await response.body?.cancel();
      url = new URL(location, url).href;
      init = { method: 'GET' };
    }
    throw new Error(`more than 20 redirects from ${start}`);
  }

  #cookieHeader(url: string): string {
    const { host, pathname } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    return [...jar]
      .filter(([key]) => pathname.startsWith(key.split(' ')[1] ?? '/'))
      .map(([key, value]) => `${key.split(' ')[0] ?? ''}=${value}`)
      .join('; ');
  }

  #keepCookies(url: string, response: Response): void {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/';
      const separator = pair.indexOf('=');
      jar.set(`${pair.slice(0, separator)} ${path}`, pair.slice(separator + 1));
    }
    this.#cookies.set(host, jar);
  }
}

/** The forms of a page, in order. */
export function forms(page: Page): Form[] {
  return [...page.html.matchAll(/<form\b([^>]*)>([\s\S]*?)<\/form>/gi)].map((match) => {
    const [, attributes = '', body = ''] = match;
    const fields = new Map<string, string>();
    const choices: { name: string; value: string }[] = [];
    for (const tag of body.matchAll(/<(?:input|button)\b([^>]*)>/gi)) {
      const text = tag[1] ?? '';
      const name = attribute(text, 'name');
      if (name === undefined) continue;
      const value = attribute(text, 'value') ?? '';
      const type = attribute(text, 'type') ?? 'text';
      if (type === 'checkbox' || type === 'radio') {
        choices.push({ name, value });
        if (!/\bchecked\b/i.test(text)) continue;
      }
      fields.set(name, value);
    }
    return {
      action: attribute(attributes, 'action') ?? '',
      method: attribute(attributes, 'method')?.toLowerCase() === 'post' ? 'post' : 'get',
      fields,
      choices,
    };
  });
}

function attribute(text: string, name: string): string | undefined {
  const match = new RegExp(`\\b${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(text);
  const value = match?.[1] ?? match?.[2] ?? match?.[3];
  return value
    ?.replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
