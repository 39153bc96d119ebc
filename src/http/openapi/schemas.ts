import type { TSchema } from 'typebox';
import { isJson, type Json, refTo } from './json.ts';

/** Keywords allowed next to a reference: they describe the location, not the shape. */
const ANNOTATIONS = ['title', 'description', 'default', 'examples'];
const MAPS: readonly string[] = ['properties', 'patternProperties'];
const LISTS: readonly string[] = ['anyOf', 'oneOf', 'allOf'];
const SINGLES: readonly string[] = ['items', 'additionalProperties', 'propertyNames', 'x-items'];

/** The schemas of the document: shapes with a name become references to one component. */
export class Schemas {
  readonly #components = new Map<string, Json>();
  readonly #names = new Map<string, string>();
  readonly #named = new Map<string, Json>();

  /** @throws {Error} when two names have one shape: the document could not tell them apart. */
  constructor(named: ReadonlyMap<string, TSchema>) {
    for (const [name, schema] of named) {
      const whole = plain(schema);
      const shape = shapeOf(whole);
      const other = this.#names.get(shape);
      if (other !== undefined) throw new Error(`the schemas ${other} and ${name} are the same`);
      this.#names.set(shape, name);
      this.#named.set(name, whole);
    }
    for (const [name, whole] of this.#named) this.#components.set(name, this.#inner(whole));
  }

  /** A schema as the document has it at its place. */
  of(schema: object): Json {
    return this.#outer(plain(schema));
  }

  /** Names a schema that the document makes itself; @returns the reference. */
  add(name: string, schema: object): Json {
    const component = this.#inner(plain(schema));
    const known = this.#components.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component)) {
      throw new Error(`two different schemas are named ${name}`);
    }
    this.#components.set(name, component);
    return refTo('schemas', name);
  }

  /** The component's name, where the schema is one. */
  nameOf(schema: object): string | undefined {
    return this.#names.get(shapeOf(plain(schema)));
  }

  /** The components that the parts refer to, directly or through each other, by name. */
  usedBy(...parts: unknown[]): Record<string, Json> {
    const used = new Map<string, Json>();
    const waiting = refsIn(parts);
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const component = this.#components.get(name);
      if (component === undefined || used.has(name)) continue;
      used.set(name, component);
      waiting.push(...refsIn(component));
    }
    return Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #outer(node: Json): Json {
    const name = this.#names.get(shapeOf(node));
    if (name === undefined) return this.#inner(node);
    const component = this.#named.get(name) ?? {};
    const beside = ANNOTATIONS.filter((key) => key in node && !same(node[key], component[key]));
    return { ...refTo('schemas', name), ...Object.fromEntries(beside.map((key) => [key, node[key]])) };
  }

  /** The node with its parts replaced, itself not. */
  #inner(node: Json): Json {
    const out: Json = {};
    for (const [key, value] of Object.entries(node)) out[key] = this.#member(key, value);
    return withoutPatterns(withDefaults(out));
  }

  #member(key: string, value: unknown): unknown {
    if (MAPS.includes(key) && isJson(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, isJson(part) ? this.#outer(part) : part]),
      );
    }
    if (LISTS.includes(key) && Array.isArray(value)) {
      return value.map((part) => (isJson(part) ? this.#outer(part) : part));
    }
    return SINGLES.includes(key) && isJson(value) ? this.#outer(value) : value;
  }
}

/** Schemas carry the library's own symbols and share objects; the document is plain JSON. */
function plain(schema: object): Json {
  const copy: unknown = JSON.parse(JSON.stringify(schema));
  if (!isJson(copy)) throw new Error('a schema is an object');
  return copy;
}

/** Properties with defaults are not required from a client. */
function withDefaults(node: Json): Json {
  const { required, properties } = node;
  if (!Array.isArray(required) || !isJson(properties)) return node;
  const needed = required.filter((name) => {
    const property = properties[String(name)];
    return !(isJson(property) && 'default' in property);
  });
  const { required: _, ...rest } = node;
  return needed.length === 0 ? rest : { ...rest, required: needed };
}

/**
 * Replaces `patternProperties` of a map, which few generators support, with an equivalent pair of common
 * keywords.
 */
function withoutPatterns(node: Json): Json {
  const { patternProperties, ...rest } = node;
  if (!isJson(patternProperties)) return node;
  const entries = Object.entries(patternProperties);
  const [pattern, value] = entries[0] ?? [];
  if (entries.length !== 1 || pattern === undefined) return node;
  const names = pattern === '^.*$' ? {} : { propertyNames: { pattern } };
  return { ...rest, additionalProperties: value, ...names };
}

/** Returns the constraints of a schema in a canonical order. */
function shapeOf(node: Json): string {
  const members = Object.entries(node).filter(([key]) => !ANNOTATIONS.includes(key));
  return JSON.stringify(
    members.sort(([a], [b]) => (a < b ? -1 : 1)),
    (key, value: unknown) => (key === 'enum' || key === 'required' ? sorted(value) : value),
  );
}

const sorted = (value: unknown) => (Array.isArray(value) ? value.toSorted() : value);

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

function refsIn(value: unknown): string[] {
  const text = JSON.stringify(value) ?? '';
  return [...text.matchAll(/#\/components\/schemas\/([\w.-]+)/g)].flatMap(([, name]) => name ?? []);
}
