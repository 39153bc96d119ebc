import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ARTEFACTS, ERRORS_FOLDER } from '../../scripts/generate/artefacts.ts';
import { schemaSnapshot } from '../../scripts/generate/schema-snapshot.ts';
import { ERRORS } from '../../src/kernel/errors.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';

const ROOT = join(import.meta.dirname, '../..');
let database: TestDatabase;
before(async () => {
  database = await createTestDatabase();
});
after(() => database.close());

for (const { path, build } of ARTEFACTS) {
  test(`${path} is what npm run generate writes`, async () => {
    const committed = await readFile(join(ROOT, path), 'utf8');
    assert.ok(committed === (await build(database)), `${path} is stale: npm run generate`);
  });
}

test('every error code has its page, and every page its code', async () => {
  const pages = await readdir(join(ROOT, ERRORS_FOLDER));
  const codes = Object.keys(ERRORS).map((code) => `${code}.md`);
  assert.deepEqual(pages.sort(), [...codes, 'README.md'].sort());
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
