import { hashKey, MutationCache, QueryClient } from '@tanstack/react-query';
import createFetchClient from 'openapi-fetch';
import createClient from 'openapi-react-query';
import type { paths } from './api.generated.ts';
import type { ApiError } from './api-error.ts';
import { onReconnect } from './connection.ts';
import { currentMode } from './mode.ts';
import { BASE_URL } from './request.ts';
import { showError } from './toasts.ts';
import { send } from './transport.ts';

/**
 * The client's calls as `send` changes them: successes are returned, every error response is thrown as
 * `ApiError`.
 */
type Calls = {
  [Path in keyof paths]: {
    [Method in keyof paths[Path]]: paths[Path][Method] extends { responses: infer Responses }
      ? Omit<paths[Path][Method], 'responses'> & {
          responses: {
            [Status in keyof Responses & (200 | 201 | 202 | 204)]: JsonOf<Responses[Status]>;
          } & {
            default: { content: { 'application/json': ApiError } };
          };
        }
      : paths[Path][Method];
  };
};

/** Tables and streams are requested explicitly where needed. */
type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } }
  ? { content: { 'application/json': Body } }
  : Response;

/**
 * Client for calls outside React: `await api.POST('/streams', { body })`. Error responses are thrown as
 * `ApiError`.
 */
export const api = createFetchClient<Calls>({
  baseUrl: BASE_URL,
  fetch: send,
  querySerializer: { array: { style: 'form', explode: false } },
});

/** Hooks: `$api.useQuery('get', '/me')`, `$api.useMutation('post', '/streams')`. */
export const $api = createClient(api);

declare module '@tanstack/react-query' {
  interface Register {
    defaultError: ApiError;
    /** `errors: 'form'`: the form shows the error (`app/form.ts`), so no toast does. */
    mutationMeta: { errors?: 'form' };
  }
}

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Live and test data have the same URLs, so the mode is part of the key.
      queryKeyHashFn: (key) => hashKey([currentMode(), ...key]),
      // Not left to the browser's idea of being online: the server may be on this machine.
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => error.status >= 500 && failures < 2,
    },
    mutations: { networkMode: 'always' },
  },
  mutationCache: new MutationCache({
    onError: (error, _variables, _result, mutation) => {
      if (mutation.meta?.errors !== 'form') showError(error);
    },
  }),
});

onReconnect(() => void queries.invalidateQueries());
