import { currentAccountId } from './account.ts';
import { type ApiError, readError } from './api-error.ts';
import { openPrompt } from './prompts.ts';
import { recordRateLimits } from './rate-limits.ts';
import { fetchOrUnreachable, headersFor } from './request.ts';
import { currentSession, renewSession, type Session } from './session.ts';

/** Maximum retries of a call: after a sign-in and after the password confirmation. */
const REPEATS = 3;

/**
 * Sends a request of the API client. While a dialog asks for a sign-in or the password, the call waits and is
 * then retried, so that no input is lost.
 *
 * @throws {ApiError} for every error response.
 */
export async function send(original: Request): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const session = currentSession();
    const accountId = currentAccountId();
    const identity = session && { csrfToken: session.csrfToken, ...(accountId && { accountId }) };
    const request = new Request(original.clone(), {
      headers: withHeaders(original.headers, headersFor(original.method, identity)),
    });
    const response = await fetchOrUnreachable(request);
    recordRateLimits(response.headers);
    if (response.ok) return response;
    const error = await readError(response);
    if (tries >= REPEATS || !(await resolveError(error, session))) throw error;
  }
}

function withHeaders(headers: Headers, more: Record<string, string>): Headers {
  const all = new Headers(headers);
  for (const [name, value] of Object.entries(more)) all.set(name, value);
  return all;
}

/** Resolves the cause of an error if possible. @returns whether the call should be retried. */
async function resolveError({ status, code, field }: ApiError, session: Session | null): Promise<boolean> {
  if (session === null) return false;
  // Not that of a wrong password, which is a 401 as well.
  if (status === 401 && code === 'UNAUTHORIZED') return openPrompt('signIn');
  if (code === 'PASSWORD_REQUIRED') return openPrompt('password');
  // Another tab has signed in: as the same user, or as a different one whose session this page must not use.
  if (code === 'CSRF_REJECTED' || field === 'X-Account-Id') {
    const account = currentAccountId();
    const now = await renewSession();
    if (now === null) return openPrompt('signIn');
    // The page is also outdated if the user is no longer a member of its team.
    if (now.user.id !== session.user.id || currentAccountId() !== account)
      window.location.assign('/dashboard');
    if (currentAccountId() !== account) return false;
    return now.user.id === session.user.id && now.csrfToken !== session.csrfToken;
  }
  return false;
}
