import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { knownMigrations } from '../../src/platform/db/migrate.ts';
import { readPhase } from '../../src/platform/db/migration-phase.ts';

const FOLDER = join(import.meta.dirname, '../../migrations');
/** Last migration that predates phases. */
const LAST_BASELINE = '0010_insight.sql';

test('the first line of each migration declares its phase', async () => {
  const later = (await knownMigrations()).filter((name) => name > LAST_BASELINE);
  const phases = await Promise.all(
    later.map(async (name) => ({ name, phase: readPhase(await readFile(join(FOLDER, name), 'utf8')) })),
  );
  const missing = phases.filter(({ phase }) => phase === null).map(({ name }) => name);
  assert.deepEqual(missing, [], 'begin with "-- phase: expand" or "-- phase: contract"');
});

test('a phase is read from the first line only', () => {
  const texts = ['-- phase: expand\nselect 1;', '-- phase: contract\n', 'select 1;\n-- phase: expand\n'];
  assert.deepEqual(texts.map(readPhase), ['expand', 'contract', null]);
});
