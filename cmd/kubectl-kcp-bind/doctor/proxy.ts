import type { CommandContext, Session } from '../command-context.js';
import { proxyFor } from '../kubeconfig/proxy.js';
import { ok, warning, type Check } from './check.js';

/** Which proxies are used on the way to kcp and to providers. */
export function checkProxies(
  context: Pick<CommandContext, 'environment'>,
  session: Pick<Session, 'credentials'>,
  backends: readonly string[],
): Check[] {
  const { proxyUrl, server } = session.credentials;
  const checks = [
    ok(
      'proxy',
      proxyUrl === undefined
        ? `${new URL(server).host} is reached directly`
        : `${new URL(server).host} is reached through ${hostOf(proxyUrl)}`,
    ),
  ];
  const { variables } = context.environment;
  const passed = backends.find((url) => proxyFor(new URL(url), variables) !== undefined);
  if (passed === undefined) return checks;
  return [
    ...checks,
    warning(
      'proxy',
      `HTTPS_PROXY or HTTP_PROXY is set, and this plugin does not use it for providers such as ${new URL(passed).host}`,
      'where the provider is reached through the proxy only, leave the look at it to the controller: --no-provider-check',
    ),
  ];
}

/** Without the user name and password that a proxy's URL may hold. */
function hostOf(proxy: string): string {
  return URL.canParse(proxy) ? new URL(proxy).host : 'a proxy';
}
