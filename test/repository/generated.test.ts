import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ARTIFACTS } from '../../scripts/generate/artifacts.ts';
import { schemaSnapshot } from '../../scripts/generate/schema-snapshot.ts';
import { tableTypes } from '../../scripts/generate/tables.ts';
import { MODES, SCOPES } from '../../src/kernel/access.ts';
import { ERRORS } from '../../src/kernel/errors.ts';
import { PLANS } from '../../src/kernel/plans.ts';
import { VISIBILITIES } from '../../src/kernel/visibility.ts';
import { VALUES } from '../../src/platform/db/tables.generated.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

const ROOT = join(import.meta.dirname, '../..');
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

for (const { path, build } of ARTIFACTS) {
  test(`${path} is what npm run generate writes`, async () => {
    const committed = await readFile(join(ROOT, path), 'utf8');
    assert.ok(committed === (await build(database)), `${path} is stale: npm run generate`);
  });
}

test('docs/errors.md has one section for each error code', async () => {
  const page = await readFile(join(ROOT, 'docs/errors.md'), 'utf8');
  const sections = [...page.matchAll(/^### (.+)$/gm)].map(([, code]) => code);
  assert.deepEqual(sections.sort(), Object.keys(ERRORS).sort());
});

test('the schema snapshot shows tables, columns, checks and indexes, and no day partition', async () => {
  await database.sql`create table event_day partition of event for values from ('2030-01-01') to ('2030-01-02')`;
  const before = await schemaSnapshot(database.sql);
  assert.doesNotMatch(before, /event_day/);
  await database.sql.unsafe(`
    alter table account add column snapshot_proof integer default 3 check (snapshot_proof > 0);
    create index snapshot_proof on account (snapshot_proof) where snapshot_proof > 1;`);
  const after = await schemaSnapshot(database.sql);
  assert.match(after, /^ {2}snapshot_proof integer default 3,$/m);
  assert.match(after, /CHECK \(\(snapshot_proof > 0\)\)/);
  assert.match(after, /^CREATE INDEX snapshot_proof ON public\.account .* WHERE \(snapshot_proof > 1\);$/m);
});

test('the tables follow the columns, their defaults and their lists of values', async () => {
  await database.sql.unsafe(`
    create table shown (
      id bigint generated always as identity, kind text check (kind in ('IT''S', 'B')), tags text[] not null,
      detail jsonb, made_at timestamptz not null default now(), lone text not null check (lone in ('ONE')))`);
  const text = await tableTypes(database.sql);
  assert.match(text, /^ {2}shown: \{\n {4}kind: \['IT\\'S', 'B'\],\n {4}lone: \['ONE'\],\n {2}\},$/m);
  assert.match(text, /^export type ShownKind = \(typeof VALUES\.shown\.kind\)\[number\];$/m);
  const columns = [
    'id: Generated<number>;',
    'kind: ShownKind | null;',
    'tags: string[];',
    "detail: JsonColumns['shown']['detail'] | null;",
    'made_at: Generated<Date>;',
    'lone: ShownLone;',
  ];
  assert.ok(text.includes(`interface ShownTable {\n  ${columns.join('\n  ')}\n}`));
  assert.match(text, /^ {2}shown: ShownTable;$/m);
  await database.sql`alter table shown add column place point`;
  await assert.rejects(tableTypes(database.sql), /shown\.place is point/);
});

// kernel imports nothing, so it says these lists once more.
test('the lists of the kernel are those of the database', () => {
  assert.deepEqual(Object.keys(PLANS), VALUES.account.plan);
  assert.deepEqual(SCOPES, VALUES.api_key.scope);
  assert.deepEqual(MODES, VALUES.workspace.mode);
  for (const list of [VALUES.stream.visibility, VALUES.video.visibility, VALUES.import.visibility])
    assert.deepEqual(VISIBILITIES, list);
});
