import type { AppendEvent, Events } from '../../../events/index.ts';
import type { Mode } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { followerAdded, followerRemoved } from './events.ts';
import type { FollowRow } from './repository.ts';
import * as repository from './repository.ts';

/** Follower with its mode: a test key follows test channels, which only test keys count. */
export interface Follower {
  accountId: string;
  mode: Mode;
}

export interface Followed {
  row: FollowRow;
  username: string;
  isNew: boolean;
}

/**
 * Follows between accounts (docs/concepts/users.md#following). An unknown username and a suspended account
 * are NOT_FOUND.
 */
export interface Follows {
  /** Follows an account. Idempotent. @throws {AppError} CONFLICT for the own username. */
  follow(follower: Follower, username: string): Promise<Followed>;
  /** @returns the ended follow. @throws {AppError} NOT_FOUND also when there is none. */
  unfollow(follower: Follower, username: string): Promise<FollowRow>;
  /** Ends all follows of the account. */
  endAll(accountId: string): Promise<void>;
  /** @param workspaceId of the channel. */
  isFollowing(workspaceId: string, accountId: string): Promise<boolean>;
}

/** Follower count of a channel, for other features. */
export const followers = { count: repository.countFollowers };

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  accounts: {
    /** @throws {AppError} NOT_FOUND. */
    byId(id: string): Promise<{ username: string }>;
    /** @throws {AppError} NOT_FOUND, also for a suspended account. */
    byUsername(username: string): Promise<{ id: string; username: string }>;
  };
  workspaceOf(accountId: string, mode: Mode): Promise<string>;
}

export function createFollows(deps: Deps): Follows {
  const { db, events, clock, accounts, workspaceOf } = deps;
  const channelOf = async (username: string, mode: Mode) => {
    const account = await accounts.byUsername(username);
    return { ...account, workspaceId: await workspaceOf(account.id, mode) };
  };
  const end = async (accountId: string, workspaceId: string) => {
    const told = { userId: accountId, username: (await accounts.byId(accountId)).username };
    return events.transaction(async (tx, append) => {
      const row = await repository.deleteFollow(tx, workspaceId, accountId);
      if (row === undefined) return undefined;
      const sequence = await repository.decrementFollowers(tx, workspaceId);
      await append(followerRemoved, workspaceId, { ...told, sequence });
      return row;
    });
  };
  return {
    async follow({ accountId, mode }, username) {
      const channel = await channelOf(username, mode);
      if (channel.id === accountId) {
        throw new AppError('CONFLICT', { field: 'username', message: 'You cannot follow yourself.' });
      }
      const row = {
        id: newId('fol'),
        workspace_id: channel.workspaceId,
        follower_id: accountId,
        created_at: clock.now(),
      };
      const told = { userId: accountId, username: (await accounts.byId(accountId)).username };
      return events.transaction(async (tx, append) => {
        const known = await start(tx, append, row, told);
        return { row: known ?? row, username: channel.username, isNew: known === null };
      });
    },
    async unfollow({ accountId, mode }, username) {
      const { workspaceId } = await channelOf(username, mode);
      const row = await end(accountId, workspaceId);
      if (row === undefined) throw notFound();
      return row;
    },
    async endAll(accountId) {
      for (const workspaceId of await repository.followedBy(db, accountId)) await end(accountId, workspaceId);
    },
    isFollowing: async (workspaceId, accountId) =>
      (await repository.findFollow(db, workspaceId, accountId)) !== undefined,
  };
}

/** @returns the existing row; null when this one is new. */
async function start(
  tx: Tx,
  append: AppendEvent,
  row: FollowRow,
  told: { userId: string; username: string },
): Promise<FollowRow | null> {
  while ((await repository.insertFollow(tx, row)) === undefined) {
    const known = await repository.findFollow(tx, row.workspace_id, row.follower_id);
    // The row was deleted between the two reads: the follow is new.
    if (known !== undefined) return known;
  }
  const sequence = await repository.incrementFollowers(tx, row.workspace_id);
  await append(followerAdded, row.workspace_id, { ...told, sequence });
  return null;
}
