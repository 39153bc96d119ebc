import type { TestDatabase } from '../../test/harness/database.ts';
import { schemaSnapshot } from './schema-snapshot.ts';
import { tableTypes } from './tables.ts';

/** Committed file that is generated from the code. */
export interface Artifact {
  /** Path relative to the root of the checkout. */
  path: string;
  /** The text that the file should have. `database` is freshly migrated. */
  build(database: TestDatabase): Promise<string>;
}

/**
 * Artifacts derived only from the migrations. The program needs them, so they are written before it is
 * loaded.
 */
export const DATABASE_ARTIFACTS: readonly Artifact[] = [
  { path: 'src/platform/db/schema.snapshot.sql', build: ({ sql }) => schemaSnapshot(sql) },
  { path: 'src/platform/db/tables.generated.ts', build: ({ sql }) => tableTypes(sql) },
];
