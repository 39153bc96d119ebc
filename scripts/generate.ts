/** `npm run generate`: writes every generated file, and lists those that changed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createTestDatabase } from '../test/harness/database.ts';
import { type Artifact, DATABASE_ARTIFACTS } from './generate/database-artifacts.ts';
import { ROOT } from './program.ts';
import { apiTypesStep } from './steps.ts';

async function write(artefacts: readonly Artifact[]): Promise<void> {
  for (const { path, build } of artefacts) {
    const file = join(ROOT, path);
    const text = await build(database);
    if ((await readFile(file, 'utf8').catch(() => '')) === text) continue;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
    process.stdout.write(`wrote ${path}\n`);
  }
}

const database = await createTestDatabase();
try {
  await write(DATABASE_ARTIFACTS);
  // Loads the program, which needs the lists of values that were just written.
  const { ARTIFACTS } = await import('./generate/artifacts.ts');
  await write(ARTIFACTS);
} finally {
  await database.close();
}
process.exit((await apiTypesStep().run()) === null ? 0 : 1);
