import { CommanderError } from 'commander';
import { describe, expect, it } from '@jest/globals';
import { readControllerConfig, type ControllerConfig } from './controller-config.js';

const read = (...argv: string[]) => readControllerConfig(argv, { version: '1.2.3' });

describe('the configuration of the controller', () => {
  it('has the documented defaults', () => {
    expect(read()).toMatchObject({
      namespace: 'kube-bind',
      clientExport: 'kcp.kube-bind.io',
      listen: { host: '127.0.0.1', port: 8080 },
      externalUrl: undefined,
      maxWorkers: 16,
      workerMemoryMb: 512,
      concurrency: 8,
      leader: { enabled: true },
      syncer: {
        concurrency: 8,
        providerQps: 500,
        dialPolicy: { allowHosts: [], allowCidrs: [], denyCidrs: [], allowProxy: false },
      },
      logLevel: 'info',
    });
  });

  it.each<[flag: string, ms: number, (config: ControllerConfig) => number]>([
    ['--absence-grace', 300_000, ({ syncer }) => syncer.absenceGraceMs],
    ['--request-timeout', 30_000, ({ syncer }) => syncer.requestTimeoutMs],
    ['--watch-silence', 110_000, ({ syncer }) => syncer.watchSilenceMs],
    ['--backoff-base', 500, ({ syncer }) => syncer.backoffBaseMs],
    ['--backoff-max', 60_000, ({ syncer }) => syncer.backoffMaxMs],
    ['--heartbeat-interval', 300_000, ({ syncer }) => syncer.heartbeatIntervalMs],
    ['--report-interval', 1000, ({ syncer }) => syncer.reportIntervalMs],
    ['--lease-duration', 15_000, ({ leader }) => leader.durationMs],
    ['--lease-renew-deadline', 10_000, ({ leader }) => leader.renewDeadlineMs],
    ['--lease-retry', 2000, ({ leader }) => leader.retryMs],
    ['--login-lifetime', 600_000, ({ loginLifetimeMs }) => loginLifetimeMs],
    ['--drain', 8000, ({ drainMs }) => drainMs],
  ])('gives the deadline %s %i ms, and takes another one', (flag, ms, of) => {
    expect(of(read())).toBe(ms);
    expect(of(read(`${flag}=7s`))).toBe(7000);
  });

  it('finds a half-open watch within two minutes, and drains within ten seconds', () => {
    const { syncer, drainMs } = read();
    // What guards a watch from above comes a little later than its own deadline: src/kube/cache/guarded-watch.ts.
    expect(syncer.watchSilenceMs).toBeLessThanOrEqual(115_000);
    expect(drainMs).toBeLessThan(10_000);
  });

  it('is frozen', () => {
    expect(Object.isFrozen(read())).toBe(true);
  });

  it('takes lists from repeated flags and from commas', () => {
    const { syncer } = read('--allow-address', '10.0.0.0/8,192.168.0.0/16', '--allow-address=fd00::/8');
    expect(syncer.dialPolicy.allowCidrs).toEqual(['10.0.0.0/8', '192.168.0.0/16', 'fd00::/8']);
  });

  it('takes one address for a range of one', () => {
    const { syncer, trustedProxies } = read('--allow-address', '10.1.2.3', '--trusted-proxy', 'fd00::1');
    expect([syncer.dialPolicy.allowCidrs, trustedProxies]).toEqual([['10.1.2.3/32'], ['fd00::1/128']]);
  });

  it.each([
    [['--allow-proxy'], true],
    [['--allow-proxy', 'false'], false],
    [['--allow-proxy=true'], true],
    [[], false],
  ])('understands the switch %j as %j', (argv, expected) => {
    expect(read(...argv).syncer.dialPolicy.allowProxy).toBe(expected);
  });

  it('reads switches from the environment by what they say', () => {
    const before = { ...process.env };
    process.env['KCP_BIND_ALLOW_PROXY'] = 'false';
    process.env['KCP_BIND_LEADER_ELECT'] = 'true';
    try {
      const { syncer, leader } = read();
      expect([syncer.dialPolicy.allowProxy, leader.enabled]).toEqual([false, true]);
    } finally {
      process.env = before;
    }
  });

  it.each([
    ['0.0.0.0:80', { host: '0.0.0.0', port: 80 }],
    [':8443', { host: '::', port: 8443 }],
    ['[::1]:9000', { host: '::1', port: 9000 }],
  ])('listens at %s', (text, listen) => {
    expect(read('--listen', text).listen).toEqual(listen);
  });

  it.each([
    ['a duration without a unit', ['--request-timeout', '30']],
    ['a host name for a range', ['--allow-address', 'localhost']],
    ['a switch that is neither true nor false', ['--allow-proxy=maybe']],
    ['a range that is too long', ['--deny-address', '10.0.0.0/33']],
    ['a port that does not exist', ['--listen', '127.0.0.1:70000']],
    ['an external URL with a query', ['--external-url', 'https://example.com/?a=b']],
    ['a certificate without its key', ['--tls-cert-file', 'tls.crt']],
    ['half of a URL map', ['--vw-url-map', 'https://a']],
    ['no worker at all', ['--max-workers', '0']],
    ['an unknown log level', ['--log-level', 'loud']],
    ['an unknown flag', ['--no-such-flag']],
  ])('refuses %s', (_, argv) => {
    expect(() => read(...argv)).toThrow(CommanderError);
  });
});
