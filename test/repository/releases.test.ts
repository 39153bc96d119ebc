import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { RELEASES } from '../../src/features/integration/changelog/releases.ts';
import type { Release } from '../../src/kernel/release.ts';
import { lastRelease } from '../openapi/breaking.ts';
import { changedEndpoints, isInOrder, operations, withoutEntry } from '../openapi/changed.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

const document = read(join(ROOT, 'openapi.json'));
const keptAt = (await lastRelease()) ?? '';
const kept = read(keptAt);
const keptVersion = /(\d+\.\d+\.\d+)\.json$/.exec(basename(keptAt))?.[1] ?? '';

test('changes of an endpoint are detected at any depth, and descriptions are ignored', () => {
  const thing = (properties: object) => ({
    paths: {
      '/things': {
        get: { summary: 'Things', responses: { 200: { $ref: '#/components/responses/Thing' } } },
        post: { responses: { 201: {} } },
      },
    },
    components: { responses: { Thing: { description: 'One.', schema: { properties } } } },
  });
  const words = thing({ id: { type: 'string', description: 'Its id.' } });
  const before = thing({ id: { type: 'string' } });
  assert.deepEqual(changedEndpoints(before, words), []);
  assert.deepEqual(changedEndpoints(before, thing({ id: { type: 'integer' } })), ['GET /things']);
  // A field named like a descriptive keyword.
  const titled = thing({ id: { type: 'string' }, title: { type: 'string' } });
  assert.deepEqual(changedEndpoints(before, titled), ['GET /things']);
  const grown = { ...before, paths: { ...before.paths, '/more': { put: {} } } };
  assert.deepEqual(changedEndpoints(before, grown), ['PUT /more']);
  assert.deepEqual(changedEndpoints(grown, before), ['PUT /more']);
});

test('only an entry of a newer release counts', () => {
  const release = (version: string, endpoints: string[]): Release => ({
    version,
    date: null,
    entries: [{ type: 'CHANGED', title: 'A', description: 'B', endpoints }],
  });
  const releases = [release('1.2.0', ['GET /a']), release('1.10.0', ['GET /b'])];
  assert.deepEqual(withoutEntry(['GET /a', 'GET /b', 'GET /c'], releases, '1.2.0'), ['GET /a', 'GET /c']);
});

test('no endpoint has changed since the last release without an entry of the changelog', () => {
  assert.equal(
    withoutEntry(changedEndpoints(kept, document), RELEASES, keptVersion).join('\n'),
    '',
    'name it, or its OpenAPI tag, in an entry of src/features/integration/changelog/first-release.ts (after npm run generate)',
  );
});

test('entries name endpoints that there are, or were', () => {
  const known = new Set([...operations(kept).keys(), ...operations(document).keys()]);
  const named = RELEASES.flatMap(({ entries }) => entries.flatMap(({ endpoints }) => endpoints));
  assert.ok(named.length > 200);
  assert.deepEqual(
    named.filter((endpoint) => !known.has(endpoint)),
    [],
  );
});

test('releases are in order, and only DEPRECATED entries end', () => {
  assert.ok(isInOrder(RELEASES));
  assert.ok(!isInOrder([...RELEASES, ...RELEASES]));
  for (const { entries } of RELEASES)
    for (const { type, ending, title } of entries)
      assert.equal(type === 'DEPRECATED', ending !== undefined, title);
});
