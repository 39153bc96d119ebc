import { dataOf, request } from '../../app/request.ts';
import { currentSession } from '../../app/session.ts';
import type { Shape } from '../../app/shape.ts';

export type Preview = Shape<'TeamInvitationPreview'>;

/** What the link is about; nobody needs a session for it. @throws {ApiError} NOT_FOUND. */
export async function previewInvitation(token: string): Promise<Preview> {
  const body = { token };
  return dataOf(await request('POST', '/team/invitations/preview', { csrfToken: null, body }));
}

/** By whoever is signed in, also before their address is confirmed. */
export async function acceptInvitation(token: string): Promise<Shape<'TeamInvitationAccepted'>> {
  const csrfToken = currentSession()?.csrfToken ?? null;
  return dataOf(await request('POST', '/team/invitations/accept', { csrfToken, body: { token } }));
}
