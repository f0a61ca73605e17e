import { GVR } from '../../api/gvr.js';
import type { KubeObject } from '../../kube/object.js';
import type { JsonObject } from '../../kube/json-value.js';
import { objectsAt, textAt } from '../views.js';
import { ALL_CLAIMS, FakeWorld, WORKSPACE } from './fake-world.js';
import type { Accident, FakeProcess } from './fake-world.js';

/** A world with one workspace, a logged-in connection `c`, and the processes that run in it. */
export class Scenario {
  readonly world = new FakeWorld();
  readonly #open: FakeProcess[] = [];

  constructor(claims: readonly string[] = ALL_CLAIMS) {
    this.world.kcp.addWorkspace(WORKSPACE, claims);
    this.world.createConnection('c', { backend: { url: 'https://backend.test' } });
    this.world.login('c');
  }

  start(accident?: Accident): FakeProcess {
    const process = this.world.start(accident);
    this.#open.push(process);
    return process;
  }

  /** Starts a process and a binding `b`, and lets them run. */
  async bind(spec: JsonObject = {}): Promise<FakeProcess> {
    const process = this.start();
    this.world.createBinding('b', { connection: 'c', template: 'widgets', ...spec });
    await this.world.run();
    return process;
  }

  async restart(): Promise<FakeProcess> {
    await this.close();
    const process = this.start();
    await this.world.run();
    return process;
  }

  async close(): Promise<void> {
    await Promise.all(this.#open.splice(0).map(({ controllers }) => controllers.close()));
  }

  condition(type: string, object = this.world.binding('b')): JsonObject | undefined {
    return objectsAt(object, 'status', 'conditions').find((condition) => condition['type'] === type);
  }

  reason(type: string, object = this.world.binding('b')): string | undefined {
    return textAt(this.condition(type, object), 'reason');
  }

  phase(): string | undefined {
    return textAt(this.world.binding('b'), 'status', 'phase');
  }

  apiBindings(): KubeObject[] {
    return this.world.kcp.objects.list(GVR.apiBindings, WORKSPACE);
  }

  /** The APIBinding to the generated export, whatever its name. */
  generatedBinding(): KubeObject | undefined {
    return this.apiBindings().find((object) =>
      textAt(object, 'spec', 'reference', 'export', 'name')?.startsWith('kbb-'),
    );
  }

  poolKey(name = 'b'): string {
    return `${WORKSPACE}|${this.world.binding(name)?.metadata.uid ?? ''}`;
  }
}
