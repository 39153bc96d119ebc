import { badRequest } from '../../../kernel/errors.ts';
import type { Db } from '../../../platform/db/index.ts';
import * as repository from './repository.ts';

/**
 * Asserts that content for members names only tiers of its own workspace.
 *
 * @throws {AppError} BAD_REQUEST, naming the first other one.
 */
export async function assertOwnTiers(
  db: Db,
  workspaceId: string,
  tierIds: readonly string[] = [],
): Promise<void> {
  if (tierIds.length === 0) return;
  const known = await repository.filterExistingTiers(db, workspaceId, tierIds);
  const index = tierIds.findIndex((id) => !known.includes(id));
  if (index >= 0) throw badRequest(`tierIds.${index}`, 'Tier not found.');
}

/** Type of `assertOwnTiers` for features with members-only content. */
export type AssertOwnTiers = typeof assertOwnTiers;
