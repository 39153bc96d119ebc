import { dataOf, request } from '../../app/request.ts';
import { currentSession } from '../../app/session.ts';
import type { Shape } from '../../app/shape.ts';

export type Preview = Shape<'TeamInvitationPreview'>;

/** Loads the preview of an invitation; requires no session. @throws {ApiError} NOT_FOUND. */
export async function previewInvitation(token: string): Promise<Preview> {
  const body = { token };
  return dataOf(await request('POST', '/team/invitations/preview', { csrfToken: null, body }));
}

/** Accepts an invitation for the signed-in user, whose email may still be unverified. */
export async function acceptInvitation(token: string): Promise<Shape<'TeamInvitationAccepted'>> {
  const csrfToken = currentSession()?.csrfToken ?? null;
  return dataOf(await request('POST', '/team/invitations/accept', { csrfToken, body: { token } }));
}
