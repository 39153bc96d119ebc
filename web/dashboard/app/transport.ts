import { type ApiError, readError } from './api-error.ts';
import { ask } from './prompts.ts';
import { noteRates } from './rates.ts';
import { fetchOrAway, headersFor } from './request.ts';
import { currentSession, loadSession } from './session.ts';

/** A call is repeated so often: after a sign-in, and after the password. */
const REPEATS = 3;

/**
 * Sends a request of the API client. While a dialog asks for a sign-in or the password, the call waits and is
 * then made again, so nothing that was typed is lost.
 *
 * @throws {ApiError} for every answer that is no success.
 */
export async function send(original: Request): Promise<Response> {
  for (let tries = 0; ; tries += 1) {
    const csrfToken = currentSession()?.csrfToken ?? null;
    const request = new Request(original.clone(), {
      headers: withHeaders(original.headers, headersFor(original.method, csrfToken)),
    });
    const response = await fetchOrAway(request);
    noteRates(response.headers);
    if (response.ok) return response;
    const error = await readError(response);
    if (tries >= REPEATS || !(await isMended(error, csrfToken))) throw error;
  }
}

function withHeaders(headers: Headers, more: Record<string, string>): Headers {
  const all = new Headers(headers);
  for (const [name, value] of Object.entries(more)) all.set(name, value);
  return all;
}

/** Whether what stood against the call is out of the way. */
async function isMended({ status, code }: ApiError, csrfToken: string | null): Promise<boolean> {
  // The code alone would do; a key's refusals cannot happen here.
  if (status === 401 && code === 'UNAUTHORIZED' && currentSession() !== null) return ask('signIn');
  if (code === 'PASSWORD_REQUIRED') return ask('password');
  // Another tab has signed in anew, and the token is of the session.
  if (code === 'CSRF_REJECTED') return (await loadSession())?.csrfToken !== csrfToken;
  return false;
}
