import { API_UNREACHABLE, ApiError, isEnvelope, readError } from './api-error.ts';
import { markOffline, markOnline } from './connection.ts';
import { currentMode } from './mode.ts';
import { noteServerTime } from './server-clock.ts';

/** Base URL of every call; the session is a cookie of this origin. */
export const BASE_URL = '/api/v1';

/** Statuses that a proxy returns while the server is unavailable. */
const PROXY_STATUSES = new Set([502, 503, 504]);

/** Session data of the page that a call carries. */
interface Identity {
  csrfToken: string;
  /** Omitted by calls that query the session. */
  accountId?: string;
}

/**
 * Returns the headers that name the workspace and its account (another tab may have signed in as a different
 * user), and that prove that a change comes from this page.
 */
export function headersFor(method: string, identity: Identity | null): Record<string, string> {
  const isRead = method === 'GET' || method === 'HEAD';
  return {
    'X-Workspace-Mode': currentMode(),
    ...(identity?.accountId === undefined ? {} : { 'X-Account-Id': identity.accountId }),
    ...(identity === null || isRead ? {} : { 'X-CSRF-Token': identity.csrfToken }),
  };
}

/**
 * Calls `fetch`, and updates the banner of the unavailable API. @throws {ApiError} API_UNREACHABLE when there was no
 * response.
 */
export async function fetchOrUnreachable(input: Request | string, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    if (PROXY_STATUSES.has(response.status) && !isEnvelope(response)) {
      throw new TypeError(`a proxy answered ${response.status}`);
    }
    markOnline();
    noteServerTime(response.headers);
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    markOffline();
    throw new ApiError({ status: 0, code: API_UNREACHABLE, message: 'Server not responding.', cause: error });
  }
}

/** One call without the dialogs of `transport.ts`: those of the session itself. */
export function request(
  method: string,
  path: string,
  { csrfToken, body }: { csrfToken: string | null; body?: object | undefined },
): Promise<Response> {
  return fetchOrUnreachable(BASE_URL + path, {
    method,
    headers: {
      ...headersFor(method, csrfToken === null ? null : { csrfToken }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Returns `data` of a response. @throws {ApiError} for an error response. */
export async function dataOf<T>(response: Response): Promise<T> {
  if (!response.ok) throw await readError(response);
  const { data }: { data: T } = await response.json();
  return data;
}
