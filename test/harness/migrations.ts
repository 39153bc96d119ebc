import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const MIGRATIONS = join(ROOT, 'migrations');
/** Creates the table of the migrations. */
const MIGRATE = join(ROOT, 'src/platform/db/migrate.ts');

/** Differs for each state of the migrations. */
export async function migrationsHash(): Promise<string> {
  const hash = createHash('sha256').update(await readFile(MIGRATE));
  const names = (await readdir(MIGRATIONS)).filter((name) => name.endsWith('.sql')).sort();
  for (const name of names) hash.update(name).update(await readFile(join(MIGRATIONS, name)));
  return hash.digest('hex').slice(0, 16);
}
