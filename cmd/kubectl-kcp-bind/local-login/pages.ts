const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** A page of the loopback listener; every text is escaped. */
export function page(title: string, text: string): string {
  const [safeTitle, safeText] = [title, text].map(escape);
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8">' +
    `<meta name="viewport" content="width=device-width"><title>${safeTitle ?? ''}</title>` +
    '<style>:root{color-scheme:light dark}body{font:1.1rem system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>' +
    `</head><body><main><h1>${safeTitle ?? ''}</h1><p>${safeText ?? ''}</p></main></body></html>`
  );
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
