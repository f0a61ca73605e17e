import type { Gvr, ObjectName } from '../../../kube/object.js';
import type { SideGate } from './side-gate.js';
import { classifyFailure, failureText, isAborted } from './write-failure.js';
import type { FailureKind } from './write-failure.js';

export type SideName = 'consumer' | 'provider';
export type Verb =
  'get' | 'list' | 'create' | 'replace' | 'apply' | 'patch' | 'dryRun' | 'putStatus' | 'delete';

/** One request that was made, for metrics. */
export interface RequestMade {
  readonly side: SideName;
  readonly verb: Verb;
  /** `ok`, or what the failure means. */
  readonly outcome: FailureKind | 'ok';
}

export interface SideOptions {
  readonly name: SideName;
  readonly gvr: Gvr;
  readonly gate: SideGate;
  readonly signal: AbortSignal;
  readonly onRequest?: (request: RequestMade) => void;
}

/** All requests about objects to one of the two servers go through here. */
export class Side {
  readonly name: SideName;
  readonly gate: SideGate;
  readonly #options: SideOptions;

  constructor(options: SideOptions) {
    this.name = options.name;
    this.gate = options.gate;
    this.#options = options;
  }

  /**
   * Makes a request unless the server is left alone at the moment, and learns from how it went.
   *
   * @throws GateClosedError, and what the request throws
   */
  async call<T>(verb: Verb, target: ObjectName, request: () => Promise<T>): Promise<T> {
    this.gate.pass();
    const { signal, onRequest } = this.#options;
    try {
      const answer = await request();
      this.gate.succeeded();
      onRequest?.({ side: this.name, verb, outcome: 'ok' });
      return answer;
    } catch (error) {
      if (!isAborted(error, signal)) {
        const outcome = this.classify(error, target);
        onRequest?.({ side: this.name, verb, outcome });
        this.#learn(outcome, error);
      }
      throw error;
    }
  }

  classify(error: unknown, target: ObjectName): FailureKind {
    return classifyFailure(error, this.#options.gvr, target);
  }

  #learn(kind: FailureKind, error: unknown): void {
    switch (kind) {
      case 'forbidden':
        this.gate.forbidden(failureText(error));
        break;
      case 'unauthorized':
      case 'notServed':
      case 'unreachable':
        this.gate.failed({ reason: kind, message: failureText(error) });
        break;
      case 'stale':
      case 'gone':
      case 'namespaceGone':
      case 'refused':
      case 'unexplained':
      case 'internal':
        // An answer about one object: the server works.
        this.gate.succeeded();
        break;
    }
  }
}
