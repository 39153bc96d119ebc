import { isJson, type Json } from '../../src/http/openapi/json.ts';
import { publishedReleases, type Release } from '../../src/kernel/release.ts';

/** Descriptive texts, which do not affect clients. */
const PROSE = new Set(['description', 'summary', 'title', 'example', 'examples', 'x-source']);
const METHODS = new Set(['get', 'post', 'put', 'patch', 'delete']);

/**
 * Returns the endpoints that are new or missing in the later document, or whose request or response differs:
 * `GET /streams`.
 */
export function changedEndpoints(earlier: Json, later: Json): string[] {
  const [before, after] = [operations(earlier), operations(later)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}

/** Every endpoint of a document with all that a client notices of it, as text. */
export function operations(document: Json): Map<string, string> {
  const found = new Map<string, string>();
  const { paths } = document;
  for (const [path, item] of Object.entries(isJson(paths) ? paths : {})) {
    if (!isJson(item)) continue;
    for (const [method, operation] of Object.entries(item)) {
      if (!METHODS.has(method)) continue;
      found.set(`${method.toUpperCase()} ${path}`, JSON.stringify(plain(operation, document, [])));
    }
  }
  return found;
}

/** Returns the value without descriptions, and with its references resolved. */
function plain(value: unknown, document: Json, within: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => plain(item, document, within));
  if (!isJson(value)) return value;
  const { $ref: reference } = value;
  if (typeof reference === 'string') {
    if (within.includes(reference)) return reference;
    return plain(resolve(document, reference), document, [...within, reference]);
  }
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    members.flatMap(([name, member]) => {
      if (PROSE.has(name)) return [];
      return [
        [name, name === 'properties' ? named(member, document, within) : plain(member, document, within)],
      ];
    }),
  );
}

/** Normalizes the fields of a shape, sorted by name; a field may be named like a descriptive keyword. */
function named(properties: unknown, document: Json, within: readonly string[]): unknown {
  if (!isJson(properties)) return properties;
  return Object.entries(properties)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => [name, plain(member, document, within)]);
}

/** @param reference `#/components/schemas/Stream` */
function resolve(document: Json, reference: string): unknown {
  return reference
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => (isJson(value) ? value[name] : undefined), document);
}

/**
 * Returns the changes that no entry names in a release newer than the stored document.
 *
 * @param kept the version of that document.
 */
export function withoutEntry(
  changes: readonly string[],
  releases: readonly Release[],
  kept: string,
): string[] {
  const newer = releases.filter(({ version }) => compareVersions(version, kept) > 0);
  const named = new Set(newer.flatMap(({ entries }) => entries.flatMap(({ endpoints }) => endpoints)));
  return changes.filter((endpoint) => !named.has(endpoint));
}

export function compareVersions(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** Reports whether published releases come first, ordered by version and date. */
export function isInOrder(releases: readonly Release[]): boolean {
  const days = publishedReleases(releases).map(({ date }) => date);
  const versions = releases.map(({ version }) => version);
  return (
    releases.slice(0, days.length).every(({ date }) => date !== null) &&
    days.every((day, index) => index === 0 || day > (days[index - 1] ?? '')) &&
    versions.every((version, index) => index === 0 || compareVersions(version, versions[index - 1] ?? '') > 0)
  );
}
