/** `npm run generate`: writes every file that is made from the code, and names those that changed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createTestDatabase } from '../test/harness/database.ts';
import { ARTEFACTS } from './generate/artefacts.ts';
import { ROOT } from './program.ts';

const database = await createTestDatabase();
try {
  for (const { path, build } of ARTEFACTS) {
    const file = join(ROOT, path);
    const text = await build(database);
    if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    process.stdout.write(`wrote ${path}\n`);
  }
} finally {
  await database.close();
}
process.exit(0);
