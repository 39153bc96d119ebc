import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventCatalogue } from '../../src/events/catalogue.ts';
import { BASE_PATH } from '../../src/http/app.ts';
import { openApiDocument } from '../../src/http/openapi/document.ts';
import type { Route } from '../../src/http/route.ts';
import { apiRoutes } from '../../src/main/api.ts';
import { createContainer } from '../../src/main/container.ts';
import { loadConfig } from '../../src/platform/config.ts';
import type { TestDatabase } from '../../test/harness/database.ts';
import { ROOT } from '../program.ts';
import { firstReleaseEndpoints } from './changed-endpoints.ts';
import { configurationReference } from './configuration.ts';
import { type Artifact, DATABASE_ARTIFACTS } from './database-artifacts.ts';
import { withDomains } from './domains.ts';
import { endpointTables } from './endpoints.ts';
import { errorReference } from './error-reference.ts';
import { eventReference } from './event-reference.ts';
import { serializeDocument } from './serialize-document.ts';
import { withPlansTable, withReleases } from './tables-in-documents.ts';

/** Every generated file. `npm run generate` writes them; a test fails when one is stale. */
export const ARTIFACTS: Artifact[] = [
  ...DATABASE_ARTIFACTS,
  {
    path: 'openapi.json',
    build: async (database) => serializeDocument(await openApi(database)),
  },
  {
    path: 'src/features/integration/changelog/first-release-endpoints.generated.ts',
    build: async (database) => firstReleaseEndpoints(await openApi(database)),
  },
  { path: 'docs/configuration.md', build: async () => configurationReference() },
  {
    path: 'CHANGELOG.md',
    build: async () => withReleases(await readFile(join(ROOT, 'CHANGELOG.md'), 'utf8')),
  },
  {
    path: 'ARCHITECTURE.md',
    build: async () => withDomains(await readFile(join(ROOT, 'ARCHITECTURE.md'), 'utf8')),
  },
  {
    path: 'docs/concepts/plans.md',
    build: async () => withPlansTable(await readFile(join(ROOT, 'docs/concepts/plans.md'), 'utf8')),
  },
  {
    path: 'docs/endpoints.md',
    build: async (database) => endpointTables((await declaredBy(database)).routes),
  },
  {
    path: 'docs/concepts/events.md',
    build: async (database) => eventReference((await declaredBy(database)).events),
  },
  {
    path: 'docs/errors.md',
    build: async (database) => errorReference((await declaredBy(database)).routes),
  },
];

const declared = new WeakMap<TestDatabase, Promise<Declared>>();

interface Declared {
  routes: Route[];
  publicUrl: string;
  events: EventCatalogue['definitions'];
}

/** Loads the program's declarations; it is composed once for all artifacts. */
function declaredBy(database: TestDatabase): Promise<Declared> {
  const known = declared.get(database) ?? compose(database);
  declared.set(database, known);
  return known;
}

async function compose(database: TestDatabase): Promise<Declared> {
  const config = loadConfig({ LOG_LEVEL: 'silent' });
  const container = await createContainer({
    config,
    databaseUrl: database.url,
    secretKey: Buffer.alloc(32),
    name: 'generate',
  });
  try {
    const { PUBLIC_URL: publicUrl } = config;
    return { routes: apiRoutes(container, () => true), publicUrl, events: container.catalogue.definitions };
  } finally {
    await container.close();
  }
}

async function openApi(database: TestDatabase) {
  const { routes, events, publicUrl } = await declaredBy(database);
  return openApiDocument({ routes, events, url: publicUrl + BASE_PATH });
}
