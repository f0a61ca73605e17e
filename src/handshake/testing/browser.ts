import type { LightMyRequestResponse } from 'fastify';
import type { HandshakeServer } from '../handshake-server.js';

interface StoredCookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/** As much of a browser as a login needs: cookies by path, forms by their hidden fields, no scripts. */
export class Browser {
  readonly #server: HandshakeServer;
  #cookies: StoredCookie[] = [];

  constructor(server: HandshakeServer) {
    this.#server = server;
  }

  get cookies(): readonly StoredCookie[] {
    return this.#cookies;
  }

  /** Another browser window on the same cookies, talking to another server (after a restart). */
  moveTo(server: HandshakeServer): Browser {
    const browser = new Browser(server);
    browser.#cookies = [...this.#cookies];
    return browser;
  }

  async get(url: string, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> {
    const path = pathOf(url);
    return this.#keep(
      await this.#server.inject({
        method: 'GET',
        url: path,
        headers: { ...this.#cookieHeader(path), ...headers },
      }),
    );
  }

  /** Sends fields as a form; an array becomes a field that comes several times. */
  async post(
    url: string,
    fields: Record<string, string | readonly string[]>,
    headers: Record<string, string> = {},
  ): Promise<LightMyRequestResponse> {
    const path = pathOf(url);
    const form = new URLSearchParams();
    for (const [name, value] of Object.entries(fields)) {
      for (const item of typeof value === 'string' ? [value] : value) form.append(name, item);
    }
    return this.#keep(
      await this.#server.inject({
        method: 'POST',
        url: path,
        payload: form.toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          ...this.#cookieHeader(path),
          ...headers,
        },
      }),
    );
  }

  /** Fills in the only form of a page and sends it. */
  async submit(
    page: LightMyRequestResponse,
    fields: Record<string, string | readonly string[]> = {},
  ): Promise<LightMyRequestResponse> {
    return this.post(formAction(page), { csrf: csrfOf(page), ...fields });
  }

  #cookieHeader(path: string): Record<string, string> {
    const sent = this.#cookies.filter(
      (cookie) => path.split('?')[0] === cookie.path || path.startsWith(`${cookie.path}/`),
    );
    return sent.length === 0 ? {} : { cookie: sent.map(({ name, value }) => `${name}=${value}`).join('; ') };
  }

  #keep(response: LightMyRequestResponse): LightMyRequestResponse {
    for (const { name, value, path = '/' } of response.cookies) {
      this.#cookies = this.#cookies.filter((cookie) => cookie.name !== name || cookie.path !== path);
      this.#cookies.push({ name, value, path });
    }
    return response;
  }
}

/** Where a redirect leads. */
export function locationOf(response: LightMyRequestResponse): string {
  return response.headers.location ?? '';
}

export function formAction(page: LightMyRequestResponse): string {
  return /<form method="post" action="([^"]+)"/.exec(page.body)?.[1] ?? 'no form';
}

export function csrfOf(page: LightMyRequestResponse): string {
  return /name="csrf" value="([^"]+)"/.exec(page.body)?.[1] ?? '';
}

function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/]+/, '');
}
