import type { TestDatabase } from '../../test/harness/database.ts';
import { schemaSnapshot } from './schema-snapshot.ts';
import { tableTypes } from './tables.ts';

/** A committed file that is made from the code. */
export interface Artifact {
  /** From the root of the checkout. */
  path: string;
  /** The text that the file should have. `database` is freshly migrated. */
  build(database: TestDatabase): Promise<string>;
}

/** What the migrations alone decide. The program itself needs it: it is written before the program is loaded. */
export const DATABASE_ARTIFACTS: readonly Artifact[] = [
  { path: 'src/platform/db/schema.snapshot.sql', build: ({ sql }) => schemaSnapshot(sql) },
  { path: 'src/platform/db/tables.generated.ts', build: ({ sql }) => tableTypes(sql) },
];
