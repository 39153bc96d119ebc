import { API_AWAY, ApiError, isEnvelope } from './api-error.ts';
import { noteAnswer, noteAway } from './connection.ts';
import { currentMode } from './mode.ts';

/** The address that every call is below; the session is a cookie of this origin. */
export const BASE_URL = '/api/v1';

/** What a proxy says when we are away. */
const PROXY_STATUSES = new Set([502, 503, 504]);

/** The headers that say which workspace is meant and, for acts, that they come from this page. */
export function headersFor(method: string, csrfToken: string | null): Record<string, string> {
  const isRead = method === 'GET' || method === 'HEAD';
  return {
    'X-Workspace-Mode': currentMode(),
    ...(isRead || csrfToken === null ? {} : { 'X-CSRF-Token': csrfToken }),
  };
}

/** `fetch` that tells the banner of the missing API. @throws {ApiError} API_AWAY when there was no answer. */
export async function fetchOrAway(input: Request | string, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    if (PROXY_STATUSES.has(response.status) && !isEnvelope(response)) {
      throw new TypeError(`a proxy answered ${response.status}`);
    }
    noteAnswer();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    noteAway();
    throw new ApiError({ status: 0, code: API_AWAY, message: 'The server does not answer.', cause: error });
  }
}

/** One call without the dialogs of `transport.ts`: those of the session itself. */
export function request(
  method: string,
  path: string,
  { csrfToken, body }: { csrfToken: string | null; body?: object | undefined },
): Promise<Response> {
  return fetchOrAway(BASE_URL + path, {
    method,
    headers: {
      ...headersFor(method, csrfToken),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}
