import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CROSS_FEATURE_READS, OWNERS } from './table-owners.ts';

const SRC = join(import.meta.dirname, '../../src');
const GENERATED = 'platform/db/tables.generated.ts';

/** The tables, as the list at the end of the generated file has them. */
function tables(): string[] {
  const [, list = ''] = readFileSync(join(SRC, GENERATED), 'utf8').split('export interface Database {');
  return [...list.matchAll(/^ {2}(\w+):/gm)].map(([, name = '']) => name);
}

const NAMES = tables().join('|');
const WRITES = [
  `\\b(?:insertInto|updateTable|deleteFrom|mergeInto)\\(\\s*'(${NAMES})\\b`,
  `\\b(?:insert\\s+into|update|delete\\s+from|merge\\s+into)\\s+(${NAMES})\\b`,
];
const READS = [
  `\\b(?:selectFrom|\\w+Join|from|using)\\(\\s*\\[?\\s*'(${NAMES})\\b`,
  `(?<!\\bdelete\\s)\\b(?:from|join)\\s+(${NAMES})\\b`,
];

/** Returns the tables that a source writes and reads, by name. */
function accesses(source: string): { writes: Set<string>; reads: Set<string> } {
  const code = source.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*/g, '$1');
  const find = (patterns: string[]) =>
    new Set(
      patterns.flatMap((pattern) =>
        [...code.matchAll(new RegExp(pattern, 'g'))].map(([, name = '']) => name),
      ),
    );
  return { writes: find(WRITES), reads: find(READS) };
}

/** `features/video/videos` of `features/video/videos/processing/repository.ts`, `events` of `events/index.ts`. */
function folderOf(path: string): string {
  const [first = '', second = '', third = ''] = path.split('/');
  if (first === 'features' && second !== 'rooms') return `${first}/${second}/${third}`;
  return first === 'features' || first === 'platform' ? `${first}/${second}` : first;
}

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && path !== GENERATED)
  .map((path) => ({
    path,
    folder: folderOf(path),
    ...accesses(readFileSync(join(SRC, path), 'utf8')),
  }));

const allowed = new Set(
  CROSS_FEATURE_READS.flatMap(({ reader, tables: read }) => read.map((table) => `${reader} reads ${table}`)),
);

test('the scan sees every way to write and read a table', () => {
  const writes = ["db.insertInto('video')", "tx.updateTable('video as v')", 'sql`delete from video v`'];
  for (const code of [...writes, 'sql`\n  update video set a = 1`', "tx.mergeInto(\n 'video')"]) {
    assert.deepEqual(accesses(code).writes, new Set(['video']), code);
  }
  const reads = ["db.selectFrom('video as v')", "q.leftJoin('video', 'a', 'b')", 'sql`from x join video v`'];
  for (const code of [...reads, "eb.selectFrom(['video', 'x'])", "q.updateTable(a).from('video')"]) {
    assert.deepEqual(accesses(code).reads, new Set(['video']), code);
  }
  const none = ["// from video\n'video_view'", '/** update video */', "db.deleteFrom('x')", 'a.video.b'];
  for (const code of none) assert.deepEqual(accesses(code), { writes: new Set(), reads: new Set() }, code);
});

test('every table has an owner, and every owner a table', () => {
  assert.deepEqual(Object.keys(OWNERS).sort(), tables().sort());
});

test('a table is written only by its owner', () => {
  const strangers = sources.flatMap(({ path, folder, writes }) =>
    [...writes].filter((table) => OWNERS[table] !== folder).map((table) => `${path} writes ${table}`),
  );
  assert.deepEqual(strangers, [], 'let the owner write it, by a function that it is asked for');
});

test('tables of another folder are read only by functions of their owner, except for listed joins', () => {
  const foreign = sources.flatMap(({ folder, reads }) =>
    [...reads].filter((table) => OWNERS[table] !== folder).map((table) => `${folder} reads ${table}`),
  );
  assert.deepEqual(
    foreign.filter((read) => !allowed.has(read)),
    [],
    'ask the owner, or say in table-owners.ts why not',
  );
  assert.deepEqual(
    [...allowed].filter((read) => !foreign.includes(read)),
    [],
    'these are no longer read: take them off the list',
  );
});
