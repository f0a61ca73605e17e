import type { CommandContext } from '../command-context.js';

/** Says which host a page is on, and opens or prints it. */
export async function presentPage(
  context: CommandContext,
  page: { readonly url: string; readonly host: string },
  browser: boolean,
): Promise<void> {
  const { report } = context;
  if (!browser) {
    const text = `Open this page in a browser to log in (it is on ${page.host}):\n  ${page.url}`;
    // With -o standard output is for data alone.
    if (report.format === undefined || report.format === 'wide') report.result(text);
    else report.progress.line(text);
    return;
  }
  report.progress.line(
    `Opening ${page.host} in your browser. If it does not open, open this page yourself:\n  ${page.url}`,
  );
  try {
    await context.effects.openBrowser(page.url);
  } catch {
    report.warn('no browser could be started; open the page above yourself');
  }
}
