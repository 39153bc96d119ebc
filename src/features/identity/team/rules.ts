import {
  type Authority,
  includesAuthority,
  mayWrite,
  ROLE_PERMISSIONS,
  type TeamRole,
} from '../../../kernel/access.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { AssignableRole, InvitationRow } from './repository.ts';

export const INVITATION_MS = 7 * DAY_MS;
/** Roles that can be assigned; OWNER belongs to the owner of the account. */
export const ASSIGNABLE_ROLES = ['ADMIN', 'EDITOR', 'ANALYST'] as const satisfies readonly AssignableRole[];

/** Returns the member ID of the owner, derived from the account ID, because the owner has no row. */
export function ownerMemberId(accountId: string): string {
  return accountId.replace(/^usr_/, 'mem_');
}

/** Returns the current status: an invitation after its expiry is EXPIRED, whatever its row contains. */
export function statusAt(
  { status, expires_at: expiresAt }: Pick<InvitationRow, 'status' | 'expires_at'>,
  nowMs: number,
): InvitationRow['status'] {
  return status === 'PENDING' && expiresAt.getTime() <= nowMs ? 'EXPIRED' : status;
}

/** Repeats the permission check of the routes with current rights. @throws {AppError} PERMISSION_DENIED. */
export function assertMayWrite(by: Authority): void {
  if (mayWrite(by, 'team:write')) return;
  throw new AppError('PERMISSION_DENIED', { message: 'You can no longer manage this team.' });
}

/**
 * Validates that the caller may assign a role, which must not exceed their own access.
 *
 * @throws {AppError} MINT_CEILING_EXCEEDED, field `teamRole`.
 */
export function assertCanAssign(by: Authority, role: TeamRole): void {
  if (includesAuthority(by, ROLE_PERMISSIONS[role])) return;
  throw new AppError('MINT_CEILING_EXCEEDED', {
    field: 'teamRole',
    message: `You cannot assign the role ${role}, which has more permissions than yours.`,
  });
}

/** @throws {AppError} PERMISSION_DENIED for a member with more access than the actor. */
export function assertMayChange(by: Authority, role: TeamRole): void {
  if (includesAuthority(by, ROLE_PERMISSIONS[role])) return;
  throw new AppError('PERMISSION_DENIED', {
    message: `You cannot change this member: the role ${role} has more permissions than yours.`,
  });
}

const OVER: Record<Exclude<InvitationRow['status'], 'PENDING'>, string> = {
  ACCEPTED: 'The invitation was already accepted.',
  REVOKED: 'The invitation was revoked.',
  EXPIRED: 'The invitation has expired. Ask for a new one.',
};

/** @throws {AppError} CONFLICT, field `token`, for an invitation that is no longer PENDING. */
export function assertPending(invitation: InvitationRow, nowMs: number): void {
  const status = statusAt(invitation, nowMs);
  if (status !== 'PENDING') throw new AppError('CONFLICT', { field: 'token', message: OVER[status] });
}
