import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BASE_PATH } from '../../src/http/app.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { apiRoutes } from '../../src/main/api.ts';
import { createContainer } from '../../src/main/container.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { TestDatabase } from '../../test/harness/database.ts';
import { ROOT } from '../steps.ts';
import { withConfigurationTable } from './configuration-table.ts';
import { schemaSnapshot } from './schema-snapshot.ts';

/** A committed file that is made from the code. */
export interface Artefact {
  /** From the root of the checkout. */
  path: string;
  /** The text that the file should have. `database` is freshly migrated. */
  build(database: TestDatabase): Promise<string>;
}

/** Every generated file. `npm run generate` writes them; a test fails when one is stale. */
export const ARTEFACTS: Artefact[] = [
  { path: 'src/platform/db/schema.snapshot.sql', build: ({ sql }) => schemaSnapshot(sql) },
  { path: 'openapi.json', build: openApi },
  {
    path: 'README.md',
    build: async () => withConfigurationTable(await readFile(join(ROOT, 'README.md'), 'utf8')),
  },
];

async function openApi(database: TestDatabase): Promise<string> {
  const container = await createContainer({
    config: loadConfig({ LOG_LEVEL: 'silent' }),
    databaseUrl: database.url,
    secretKey: Buffer.alloc(32),
    name: 'generate',
  });
  try {
    const routes = apiRoutes(container, () => true);
    return `${JSON.stringify(openApiDocument(routes, container.catalogue.definitions, BASE_PATH), null, 2)}\n`;
  } finally {
    await container.close();
  }
}
