/**
 * Phase of a migration in a rolling upgrade (docs/decisions/database.md#phases-of-migrations): the previous
 * release runs on the result of `expand`; `contract` removes what that release no longer reads.
 */
export type MigrationPhase = 'expand' | 'contract';

/** Row of the table `migration`. */
export interface AppliedMigration {
  name: string;
  /** null for a migration that declared no phase, or was applied by a version that recorded none. */
  phase: string | null;
}

export const NEWER_REMEDY = 'start the version that applied it or a newer one, or restore a backup';

const FIRST_LINE = /^-- phase: (expand|contract)\n/;

/** Reads the phase from the first line of a migration; null for the files that predate phases. */
export function readPhase(text: string): MigrationPhase | null {
  const phase = FIRST_LINE.exec(text)?.[1];
  return phase === 'expand' || phase === 'contract' ? phase : null;
}

/**
 * Returns the reason why a program cannot run on a database of a newer version, or null.
 *
 * @param known migrations of the program.
 */
export function findNewerObstacle(
  applied: readonly AppliedMigration[],
  known: readonly string[],
): string | null {
  const names = applied
    .filter(({ name, phase }) => phase !== 'expand' && !known.includes(name))
    .map(({ name }) => name);
  return names.length === 0 ? null : `the database is too new for this version: it has ${names.join(', ')}`;
}
