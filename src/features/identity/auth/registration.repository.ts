import type { Db, Tx } from '../../../platform/db/index.ts';
import type { RegistrationInviteTable } from '../../../platform/db/tables.generated.ts';

export async function insertInvite(db: Db, invite: Omit<RegistrationInviteTable, 'used_at'>): Promise<void> {
  await db
    .insertInto('registration_invite')
    .values({ ...invite, used_at: null })
    .execute();
}

/** Finds the email address of a valid invitation. */
export function findValidInvite(db: Db, hash: Uint8Array, now: Date) {
  return db
    .selectFrom('registration_invite')
    .select('email')
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
}

/** Consumes an invitation. @returns false when it is unknown, used or expired. */
export async function consumeInvite(tx: Tx, hash: Uint8Array, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('registration_invite')
    .set({ used_at: now })
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteInvite(tx: Tx, hash: Uint8Array): Promise<void> {
  await tx.deleteFrom('registration_invite').where('hash', '=', hash).execute();
}

export async function deleteInvitesBefore(db: Db, time: Date): Promise<void> {
  await db.deleteFrom('registration_invite').where('expires_at', '<', time).execute();
}
