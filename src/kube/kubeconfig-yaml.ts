import { parseDocument } from 'yaml';
import { KubeconfigError } from './errors.js';

const MAX_CHARS = 256 * 1024;
/** A kubeconfig with a hundred contexts stays below; every one costs the parser some 10 to 30 microseconds. */
const MAX_TOKENS = 5000;

/** A mapping of a kubeconfig with the path at which it stands, so that errors can name fields. */
export class KubeconfigNode {
  readonly path: string;
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(path: string, fields: unknown) {
    if (!isRecord(fields)) throw new KubeconfigError(`${path || 'kubeconfig'} must be a mapping`, path);
    this.path = path;
    this.#fields = fields;
  }

  /** `path` of a field of this node. */
  field(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  /** True for a field that says something: not absent, null, false, or empty. */
  has(name: string): boolean {
    const value = this.#get(name);
    if (value === undefined || value === null || value === false || value === '') return false;
    return !(Array.isArray(value) && value.length === 0);
  }

  /** Undefined when absent, null or empty. Throws for what is no string. */
  text(name: string): string | undefined {
    const value = this.#get(name);
    if (value === undefined || value === null || value === '') return undefined;
    if (typeof value === 'string') return value;
    throw new KubeconfigError(`${this.field(name)} must be a string`, this.field(name));
  }

  /** The mapping below a field; an empty one when absent. */
  child(name: string): KubeconfigNode {
    return new KubeconfigNode(this.field(name), this.#get(name) ?? {});
  }

  /** The entry of `clusters`, `users` or `contexts` with this name. */
  entry(list: string, name: string): KubeconfigNode {
    const entries = this.#get(list);
    const index = Array.isArray(entries)
      ? entries.findIndex((entry) => isRecord(entry) && entry['name'] === name)
      : -1;
    if (!Array.isArray(entries) || index === -1)
      throw new KubeconfigError(`${list} has no entry named ${JSON.stringify(name.slice(0, 128))}`, list);
    return new KubeconfigNode(`${list}[${index}]`, entries[index]);
  }

  #get(name: string): unknown {
    return Object.hasOwn(this.#fields, name) ? this.#fields[name] : undefined;
  }
}

/**
 * Reads a kubeconfig that anybody may have written: at most 256 KiB, one document, no aliases, and so little
 * structure that parsing cannot hold up the thread; the bulk of a kubeconfig is base64.
 *
 * @throws KubeconfigError with an empty `field`
 */
export function parseKubeconfigYaml(text: string): KubeconfigNode {
  if (text.length > MAX_CHARS) throw new KubeconfigError('the kubeconfig is larger than 256 KiB', '');
  if (tokens(text).length > MAX_TOKENS)
    throw new KubeconfigError(
      'the kubeconfig has too many entries; leave only the context that is needed',
      '',
    );
  if (isDeep(text)) throw new KubeconfigError('the kubeconfig is nested too deeply', '');
  return new KubeconfigNode('', parseYaml(text));
}

/** At least everything that YAML takes for structure. */
function tokens(text: string): readonly string[] {
  return text.match(/[\r\n[\]{},:!&*#%"'\\]|[-?](?=\s)/g) ?? [];
}

/**
 * True for nesting that would overflow the parser's stack, which takes it long to notice. Indentation needs no
 * limit of its own: within the size limit it cannot go deep.
 */
function isDeep(text: string): boolean {
  if (/(?:[-?][ \t]+){32}/.test(text)) return true;
  let depth = 0;
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    depth = Math.max(0, depth + (bracket === '[' || bracket === '{' ? 1 : -1));
    if (depth > 32) return true;
  }
  return false;
}

function parseYaml(text: string): unknown {
  try {
    // The check for equal keys takes quadratic time; of equal keys the last one counts.
    const document = parseDocument(text, { uniqueKeys: false, merge: false, prettyErrors: false });
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 200) : 'unknown';
    throw new KubeconfigError(`the kubeconfig is not valid YAML: ${why}`, '');
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
