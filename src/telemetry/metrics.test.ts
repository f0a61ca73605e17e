import { Counter } from 'prom-client';
import { describe, expect, it } from '@jest/globals';
import { createMetricsRegistry, renderMetrics } from './metrics.js';

function counted(by: number) {
  const registry = createMetricsRegistry();
  new Counter({ name: 'things_total', help: 'things', registers: [registry] }).inc(by);
  return registry;
}

describe('renderMetrics', () => {
  it('gives the own registry without workers', async () => {
    expect(await renderMetrics(counted(2))).toContain('things_total 2');
  });

  it('adds up what workers posted', async () => {
    const text = await renderMetrics(counted(2), [
      await counted(3).getMetricsAsJSON(),
      await counted(4).getMetricsAsJSON(),
    ]);
    expect(text).toContain('things_total 9');
  });

  it('keeps registries apart', async () => {
    counted(5);
    expect(await renderMetrics(createMetricsRegistry())).not.toContain('things_total');
  });
});
