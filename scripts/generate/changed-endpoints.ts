import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJson, type Json } from '../../src/http/openapi/json.ts';
import { changedEndpoints } from '../../test/openapi/changed.ts';
import { ROOT } from '../program.ts';

const HEADER =
  '/** Endpoints that version 1.0.0 added or changed, by OpenAPI tag. Written by npm run generate. */';
const LINE_WIDTH = 110;

/** Generates the endpoints of version 1.0.0 from its document, or from the current one until it is released. */
export function firstReleaseEndpoints(current: Json): string {
  return endpointsByTag(readRelease('0.2.0') ?? {}, readRelease('1.0.0') ?? current);
}

function readRelease(version: string): Json | null {
  const file = join(ROOT, `docs/releases/openapi-${version}.json`);
  if (!existsSync(file)) return null;
  const document: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return isJson(document) ? document : null;
}

/** Generates a TypeScript module of the endpoints in `later` that are new or differ from `earlier`. */
export function endpointsByTag(earlier: Json, later: Json): string {
  const changed = new Set(changedEndpoints(earlier, later));
  const endpoints = entriesOf(later.paths).flatMap(([path, item]) =>
    entriesOf(item).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`;
      return changed.has(name) ? [{ name, tag: tagOf(operation) }] : [];
    }),
  );
  const lists = [...Map.groupBy(endpoints, ({ tag }) => tag)].map(([tag, of]) => {
    const names = of.map(({ name }) => `'${name}'`);
    const line = `  ${tag}: [${names.join(', ')}],`;
    if (line.length <= LINE_WIDTH) return `${line}\n`;
    return `  ${tag}: [\n${names.map((name) => `    ${name},\n`).join('')}  ],\n`;
  });
  return `${HEADER}\nexport const FIRST_RELEASE_ENDPOINTS = {\n${lists.join('')}} as const;\n`;
}

function entriesOf(value: unknown): [string, unknown][] {
  return isJson(value) ? Object.entries(value) : [];
}

function tagOf(operation: unknown): string {
  const [tag] = isJson(operation) && Array.isArray(operation.tags) ? operation.tags : [];
  if (typeof tag !== 'string') throw new Error('every operation must have a tag');
  return tag;
}
