import type { Controller } from './client-installation.js';

/** The sum of a metric's series, by its full name; 0 where there is none yet. */
export async function metric(controller: Pick<Controller, 'url'>, name: string): Promise<number> {
  const text = await (await fetch(`${controller.url}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
