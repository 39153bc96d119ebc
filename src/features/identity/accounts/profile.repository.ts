import type { Db } from '../../../platform/db/index.ts';
import type { AccountEmbedMode as EmbedMode } from '../../../platform/db/tables.generated.ts';

/** Finds the profile of an account for its owner. */
export async function findProfile(db: Db, accountId: string) {
  return db
    .selectFrom('account')
    .leftJoin('avatar', 'avatar.account_id', 'account.id')
    .select([
      'account.id',
      'account.email',
      'account.email_verified_at',
      'account.name',
      'account.username',
      'account.role',
      'account.plan',
      'account.bio',
      'account.locale',
      'account.timezone',
      'account.embed_mode',
      'account.embed_domains',
      'account.embed_updated_at',
      'account.created_at',
      'avatar.id as avatar_id',
      'avatar.created_at as avatar_created_at',
    ])
    .where('account.id', '=', accountId)
    .executeTakeFirst();
}

/** Finds the public profile of an account by username; suspended accounts are excluded. */
export function findPublicProfile(db: Db, username: string) {
  return db
    .selectFrom('account')
    .leftJoin('avatar', 'avatar.account_id', 'account.id')
    .select([
      'account.id',
      'account.name',
      'account.username',
      'account.bio',
      'account.created_at',
      'avatar.id as avatar_id',
    ])
    .where('account.username', '=', username)
    .where('account.suspended_at', 'is', null)
    .executeTakeFirst();
}

export type PublicProfile = NonNullable<Awaited<ReturnType<typeof findPublicProfile>>>;

export type ProfileRow = NonNullable<Awaited<ReturnType<typeof findProfile>>>;

export interface ProfileChange {
  name?: string | null;
  username?: string;
  bio?: string | null;
  locale?: string;
  timezone?: string;
  embed_mode?: EmbedMode;
  embed_domains?: string[];
  embed_updated_at?: Date;
}

export async function updateProfile(db: Db, accountId: string, change: ProfileChange): Promise<void> {
  await db.updateTable('account').set(change).where('id', '=', accountId).execute();
}

/** Replaces an existing one. */
export async function upsertAvatar(
  db: Db,
  accountId: string,
  avatar: { id: string; image: Uint8Array; created_at: Date },
): Promise<void> {
  await db
    .insertInto('avatar')
    .values({ ...avatar, account_id: accountId })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(avatar))
    .execute();
}

/** @returns whether it existed. */
export async function deleteAvatar(db: Db, accountId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('avatar')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Finds a public avatar: the ID suffices. */
export async function findAvatar(db: Db, id: string): Promise<Uint8Array | undefined> {
  const row = await db
    .selectFrom('avatar')
    .innerJoin('account', 'account.id', 'avatar.account_id')
    .select('avatar.image')
    .where('avatar.id', '=', id)
    .where('account.suspended_at', 'is', null)
    .executeTakeFirst();
  return row?.image;
}
