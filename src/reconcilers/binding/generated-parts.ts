import { BINDING_UID_LABEL } from '../../api/markers.js';
import { GVR } from '../../api/gvr.js';
import type { Gvr } from '../../api/gvr.js';
import { isSchemaOf } from '../../api/names.js';
import { jsonEqual } from '../../kube/json.js';
import type { KubeClient } from '../../kube/client.js';
import { ApiError, isObjectNotFound, isStatus } from '../../kube/errors.js';
import type { KubeObject, ObjectName } from '../../kube/object.js';
import type { ResourceSchemaSpec } from '../../schema/resource-schema.js';
import { at } from '../views.js';
import { bindRole, contentRole } from './manifests.js';
import type { MissingParts } from './observation.js';
import { generatedNames } from './owner.js';
import type { BindingRef } from './owner.js';
import type { LiveSchema } from './schema-plan.js';

/** Schemas of a page: each may have 2 MiB. */
const SCHEMA_PAGE = 10;

/** What a ClusterRole and its ClusterRoleBinding are, as far as they are there. */
type RoleAndBinding = readonly [role: KubeObject | undefined, binding: KubeObject | undefined];

/** Reads and writes what is made in the client workspace for one binding. Every method may be repeated. */
export class GeneratedParts {
  readonly #client: KubeClient;
  readonly #namespace: string;

  constructor(client: KubeClient, namespace: string) {
    this.#client = client;
    this.#namespace = namespace;
  }

  /** The object, or undefined when it is provably not there. */
  async find(gvr: Gvr, target: ObjectName): Promise<KubeObject | undefined> {
    try {
      return await this.#client.get(gvr, target);
    } catch (error) {
      if (isObjectNotFound(error)) return undefined;
      throw error;
    }
  }

  generatedExport(ref: BindingRef): Promise<KubeObject | undefined> {
    return this.find(GVR.apiExports, { name: generatedNames(ref).exportName });
  }

  /** Looks at every part of the export but the export itself. */
  async missing(
    ref: BindingRef,
    wanted: {
      readonly schemas: readonly string[];
      readonly used: readonly string[];
      readonly bindByUser: boolean;
    },
  ): Promise<MissingParts> {
    const names = generatedNames(ref);
    const content = contentRole(ref, this.#namespace);
    const inNamespace = (name: string): ObjectName => ({ namespace: this.#namespace, name });
    const [identity, account, contentNow, byUsersNow, schemas] = await Promise.all([
      this.find(GVR.secrets, inNamespace(names.identitySecret)),
      this.find(GVR.serviceAccounts, inNamespace(names.exportName)),
      this.#roleAndBinding(names.exportName),
      this.#roleAndBinding(names.bindRole),
      this.schemas(ref),
    ]);
    const there = new Set(schemas.map(({ metadata }) => metadata.name));
    const kept = new Set([...wanted.schemas, ...wanted.used]);
    return {
      identity: typeof at(identity, 'data', 'key') !== 'string',
      schemas: wanted.schemas.filter((name) => !there.has(name)),
      account: account === undefined,
      role: !sameRules(contentNow[0], content[0]),
      roleBinding: !sameSubjects(contentNow[1], content[1]),
      bindRole: wanted.bindByUser ? madeBindRole(byUsersNow, bindRole(ref)) : removedBindRole(byUsersNow),
      oldSchemas: [...there].filter((name) => !kept.has(name)),
    };
  }

  #roleAndBinding(name: string): Promise<RoleAndBinding> {
    return Promise.all([this.find(GVR.clusterRoles, { name }), this.find(GVR.clusterRoleBindings, { name })]);
  }

  /** All APIResourceSchemas that were made for the binding. */
  async schemas(ref: BindingRef): Promise<KubeObject[]> {
    const found: KubeObject[] = [];
    let next: string | undefined;
    do {
      const page = await this.#client.list(GVR.apiResourceSchemas, {
        labelSelector: `${BINDING_UID_LABEL}=${ref.uid}`,
        limit: SCHEMA_PAGE,
        ...(next === undefined ? {} : { continue: next }),
      });
      found.push(...page.items);
      next = page.continue;
    } while (next !== undefined && next !== '');
    return found;
  }

  /** The same schemas with their specs, where the objects are there. */
  async withSpecs(ref: BindingRef, live: readonly LiveSchema[]): Promise<LiveSchema[]> {
    return Promise.all(
      live.map(async (schema) => {
        const object =
          schema.name === '' ? undefined : await this.find(GVR.apiResourceSchemas, { name: schema.name });
        // A schema is checked when it is made, and nobody but admins of the client workspace makes others.
        const spec = object?.['spec'] as ResourceSchemaSpec | undefined;
        if (isSchemaOf(ref, schema.name)) return { ...schema, spec };
        return { ...schema, spec: await this.#lastOwn(ref, schema), foreign: spec };
      }),
    );
  }

  /** The binding's own schema of an API: the newest, as the others go once kcp has followed. */
  async #lastOwn(ref: BindingRef, { group, resource }: LiveSchema): Promise<ResourceSchemaSpec | undefined> {
    const made = ({ metadata }: KubeObject): string => metadata.creationTimestamp ?? '';
    const own = (await this.schemas(ref))
      .filter(
        (each) => at(each, 'spec', 'group') === group && at(each, 'spec', 'names', 'plural') === resource,
      )
      .sort((a, b) => made(b).localeCompare(made(a)));
    return own[0]?.['spec'] as ResourceSchemaSpec | undefined;
  }

  /** Creates; an object of that name that is there already counts as done. */
  async create(gvr: Gvr, object: KubeObject): Promise<void> {
    try {
      await this.#client.create(gvr, object);
    } catch (error) {
      if (!isAlreadyThere(error)) throw error;
    }
  }

  /** Creates, or makes what is there the same as wanted apart from what it has in addition in metadata. */
  async apply(gvr: Gvr, wanted: KubeObject): Promise<void> {
    const { name, namespace } = wanted.metadata;
    const now = await this.find(gvr, { name, namespace });
    if (now === undefined) return this.create(gvr, wanted);
    const metadata = {
      ...now.metadata,
      labels: { ...now.metadata.labels, ...wanted.metadata.labels },
      annotations: { ...now.metadata.annotations, ...wanted.metadata.annotations },
    };
    await this.#client.replace(gvr, { ...now, ...wanted, metadata });
  }

  /** A role binding's role cannot be changed: one that refers to another is made anew. */
  async applyRoleBinding(wanted: KubeObject): Promise<void> {
    const now = await this.find(GVR.clusterRoleBindings, { name: wanted.metadata.name });
    if (now !== undefined && !jsonEqual(now['roleRef'], wanted['roleRef'])) {
      await this.remove(GVR.clusterRoleBindings, { name: wanted.metadata.name });
    }
    await this.apply(GVR.clusterRoleBindings, wanted);
  }

  /** Deletes; absent is fine. */
  async remove(gvr: Gvr, target: ObjectName): Promise<void> {
    try {
      await this.#client.delete(gvr, target);
    } catch (error) {
      if (!isStatus(error, 404)) throw error;
    }
  }
}

function isAlreadyThere(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.reason === 'AlreadyExists';
}

function sameRules(now: KubeObject | undefined, wanted: KubeObject | undefined): boolean {
  return jsonEqual(now?.['rules'], wanted?.['rules']);
}

function sameSubjects(now: KubeObject | undefined, wanted: KubeObject | undefined): boolean {
  return (
    jsonEqual(now?.['subjects'], wanted?.['subjects']) && jsonEqual(now?.['roleRef'], wanted?.['roleRef'])
  );
}

function madeBindRole(now: RoleAndBinding, wanted: RoleAndBinding): MissingParts['bindRole'] {
  return sameRules(now[0], wanted[0]) && sameSubjects(now[1], wanted[1]) ? 'fine' : 'missing';
}

/** Two objects: a crash may have left either. */
function removedBindRole(now: RoleAndBinding): MissingParts['bindRole'] {
  return now.every((object) => object === undefined) ? 'fine' : 'left-over';
}
