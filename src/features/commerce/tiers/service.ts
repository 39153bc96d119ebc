import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import type { Mode } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { diffFields, omitUndefined } from '../../../kernel/diff.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { lockWorkspace, type WorkspaceOwner } from '../../../platform/db/workspace.ts';
import { tierArchived, tierCreated, tierUpdated } from './events.ts';
import type { TierChange, TierRow } from './repository.ts';
import * as repository from './repository.ts';
import { type Creator, settingsOf, type TierIn, type TierPatch } from './schemas.ts';

/** A creator as others see them. */
export interface KnownCreator extends Creator {
  accountId: string;
}

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  /** @throws {AppError} NOT_FOUND. */
  creatorOf(accountId: string): Promise<KnownCreator>;
  /**
   * Returns the creator with this username.
   *
   * @throws {AppError} NOT_FOUND for an unknown name, and for a suspended creator.
   */
  creatorNamed(username: string): Promise<KnownCreator>;
  workspaceOf(accountId: string, mode: Mode): Promise<string>;
  ownerOf(workspaceId: string): Promise<Pick<WorkspaceOwner, 'accountId' | 'mode'>>;
}

interface Asking {
  accountId: string;
  workspaceId: string;
  mode: Mode;
}

/** Tiers of a workspace (docs/concepts/tiers.md). An id that is not the workspace's is NOT_FOUND. */
export interface Tiers {
  /** @throws {AppError} CONFLICT beyond 100 tiers. */
  create(workspaceId: string, input: TierIn): Promise<TierRow>;
  /**
   * Lists the caller's own tiers, including archived ones; of another creator, those that accept members.
   * Tiers of test mode are visible only to their creator.
   *
   * @throws {AppError} NOT_FOUND for an unknown name.
   */
  list(
    caller: Asking,
    username: string | undefined,
    page: PageRequest,
  ): Promise<{ rows: TierRow[]; creator: Creator; isOwn: boolean }>;
  /** Lists the tiers of any creator that accept members; newest first. */
  open(workspaceId: string): Promise<TierRow[]>;
  get(workspaceId: string, id: string): Promise<TierRow>;
  /**
   * Finds a tier that `list` shows to the caller: the caller's own, or another creator's that accepts
   * members.
   */
  view(caller: Asking, id: string): Promise<{ row: TierRow; creator: Creator; isOwn: boolean }>;
  /** Returns a tier for new references: it is not removed before the transaction ends. */
  keep(tx: Tx, workspaceId: string, id: string): Promise<TierRow>;
  creatorOf(accountId: string): Promise<Creator>;
  /** @throws {AppError} CONFLICT for an archived tier, and for another `interval`. */
  update(workspaceId: string, id: string, input: TierPatch): Promise<TierRow>;
  /**
   * Deletes a tier, or archives one that was ever bought or offered to a buyer.
   *
   * @returns null when it was deleted.
   */
  remove(workspaceId: string, id: string): Promise<TierRow | null>;
}

/** Spots of a tier, in the transaction that reserves or releases them. */
export interface TierCapacity {
  /**
   * Reserves a spot for a buyer who pays.
   *
   * @returns false when the tier is full, not active or archived.
   */
  claim(tx: Tx, tierId: string): Promise<boolean>;
  /** Releases a reservation when the buyer did not pay. */
  release(tx: Tx, tierId: string): Promise<void>;
  /**
   * Adds a member.
   *
   * @param wasClaimed whether a spot was reserved, which the member takes.
   */
  join(tx: Tx, tierId: string, wasClaimed: boolean): Promise<void>;
  /** Removes a member whose subscription has ended. */
  leave(tx: Tx, tierId: string): Promise<void>;
}

const MAX_TIERS = 100;
const ALL: PageRequest = {
  fetchLimit: MAX_TIERS,
  limit: MAX_TIERS,
  order: 'desc',
  after: null,
  createdAfter: null,
  createdBefore: null,
};

export const tierCapacity: TierCapacity = {
  claim: repository.reserveSpot,
  release: (tx, id) => repository.adjustMemberCounts(tx, id, { claimed: -1, members: 0 }),
  join: (tx, id, wasClaimed) =>
    repository.adjustMemberCounts(tx, id, { claimed: wasClaimed ? -1 : 0, members: 1 }),
  leave: (tx, id) => repository.adjustMemberCounts(tx, id, { claimed: 0, members: -1 }),
};

export function createTiers(deps: Deps): Tiers {
  const { db, events, clock } = deps;
  return {
    creatorOf: deps.creatorOf,
    create: (workspaceId, input) =>
      events.transaction(async (tx, append) => {
        await lockWorkspace(tx, workspaceId);
        if ((await repository.countTiers(tx, workspaceId)) >= MAX_TIERS) {
          throw new AppError('CONFLICT', {
            message: `Limit of ${MAX_TIERS} active tiers reached. Archive one first.`,
          });
        }
        const now = clock.now();
        const row = await repository.insertTier(tx, {
          ...omitUndefined(toColumns(input)),
          id: newId('tier'),
          workspace_id: workspaceId,
          name: input.name,
          price_cents: input.priceCents,
          interval: input.interval,
          event_sequence: 1,
          created_at: now,
          updated_at: now,
        });
        await append(tierCreated, workspaceId, { tierId: row.id, name: row.name, sequence: 1 });
        return row;
      }),
    async list({ accountId, workspaceId, mode }, username, page) {
      const own = await deps.creatorOf(accountId);
      if (username === undefined || username === own.username) {
        return { rows: await repository.listTiers(db, workspaceId, false, page), creator: own, isOwn: true };
      }
      const other = await deps.creatorNamed(username);
      if (mode === 'test') return { rows: [], creator: other, isOwn: false };
      const theirs = await deps.workspaceOf(other.accountId, 'live');
      return { rows: await repository.listTiers(db, theirs, true, page), creator: other, isOwn: false };
    },
    open: (workspaceId) => repository.listTiers(db, workspaceId, true, ALL),
    get: async (workspaceId, id) => there(await repository.findTier(db, workspaceId, id)),
    async view({ accountId, workspaceId, mode }, id) {
      const own = await repository.findTier(db, workspaceId, id);
      if (own !== undefined) return { row: own, creator: await deps.creatorOf(accountId), isOwn: true };
      const row = there(await repository.findOpenTier(db, id));
      const owner = await deps.ownerOf(row.workspace_id);
      if (mode === 'test' || owner.mode === 'test') throw notFound();
      return { row, creator: await deps.creatorOf(owner.accountId), isOwn: false };
    },
    keep: async (tx, workspaceId, id) => there(await repository.lockTierKeyShare(tx, workspaceId, id)),
    update: (workspaceId, id, input) =>
      events.transaction((tx, append) => update({ tx, append, now: clock.now() }, workspaceId, id, input)),
    remove: (workspaceId, id) =>
      events.transaction(async (tx, append) => {
        const row = there(await repository.lockTierForUpdate(tx, workspaceId, id));
        if (row.archived_at !== null) return row;
        const sequence = await nextSequence(tx, 'tier', id);
        await append(tierArchived, workspaceId, { tierId: id, name: row.name, sequence });
        if (await repository.deleteUnused(tx, id)) return null;
        const now = clock.now();
        return repository.updateTier(tx, id, { archived_at: now, updated_at: now, is_active: false });
      }),
  };
}

function there(row: TierRow | undefined): TierRow {
  if (row === undefined) throw notFound();
  return row;
}

async function update(
  { tx, append, now }: { tx: Tx; append: AppendEvent; now: Date },
  workspaceId: string,
  id: string,
  input: TierPatch,
): Promise<TierRow> {
  const before = there(await repository.lockTier(tx, workspaceId, id));
  if (before.archived_at !== null) {
    throw new AppError('CONFLICT', { message: 'An archived tier cannot be changed.' });
  }
  if (input.interval !== undefined && input.interval !== before.interval) {
    const message = 'The interval of a tier cannot be changed. Create another tier.';
    throw new AppError('CONFLICT', { field: 'interval', message });
  }
  const wished = { ...before, ...omitUndefined(toColumns(input)) };
  const changes = diffFields(settingsOf(before), settingsOf(wished));
  const migrateExisting = input.migrateExisting ?? false;
  if (Object.keys(changes).length === 0 && !migrateExisting) return before;
  const after = await repository.updateTier(tx, id, { ...omitUndefined(toColumns(input)), updated_at: now });
  const sequence = await nextSequence(tx, 'tier', id);
  await append(tierUpdated, workspaceId, {
    tierId: id,
    name: after.name,
    changes,
    migrateExisting,
    sequence,
  });
  return after;
}

function toColumns(input: TierPatch) {
  return {
    name: input.name,
    description: input.description,
    price_cents: input.priceCents,
    trial_days: input.trialDays,
    benefits: input.benefits,
    position: input.position,
    is_active: input.isActive,
    max_members: input.maxMembers,
  } satisfies TierChange;
}
