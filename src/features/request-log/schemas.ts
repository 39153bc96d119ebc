import Type, { type Static } from 'typebox';
import { named } from '../../http/named.ts';
import { CommaTexts, Instant, Nullable } from '../../http/schema.ts';
import type { RequestRow } from './repository.ts';

export const RequestOut = named(
  'AnsweredRequest',
  Type.Object({
    requestId: Type.String({ description: '`X-SVC-Request-Id` of the answer.' }),
    method: Type.String(),
    path: Type.String({ description: 'As it was sent, without its query; a secret in it is `*`.' }),
    status: Type.Integer(),
    code: Nullable(Type.String({ description: '`error.code` of the answer.' })),
    keyId: Nullable(Type.String({ description: 'The API key; null for a session of the dashboard.' })),
    ms: Type.Number({ description: 'Milliseconds until it was answered.' }),
    at: Type.String({ ...Instant, description: 'When it was answered.' }),
  }),
  {
    requestId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
    method: 'POST',
    path: '/api/v1/streams/str_01kafe3n4pfx2v9yq6m8d7t5zr/start',
    status: 404,
    code: 'NOT_FOUND',
    keyId: 'key_01kafe3n4pfx2v9yq6m8d7t5zr',
    ms: 4.2,
    at: '2026-11-20T09:00:00.000Z',
  },
);

/** The filters of the list. */
export const requestFilters = {
  requestId: Type.Optional(Type.String({ description: 'A UUID: `X-SVC-Request-Id` of an answer.' })),
  status: CommaTexts('Numbers such as 404, families such as 4xx, and `errors` for 4xx and 5xx.'),
  path: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description:
        'The whole path, with or without that of the base URL; `*` at its end stands for anything.',
      examples: ['/streams/*'],
    }),
  ),
  keyId: Type.Optional(Type.String({ maxLength: 64, description: 'Requests of this API key.' })),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Answered at this instant or later.' }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Answered before this instant.' })),
};

export function toRequest(row: RequestRow): Static<typeof RequestOut> {
  const { request_id: requestId, method, path, status, code, key_id: keyId, ms } = row;
  return { requestId, method, path, status, code, keyId, ms, at: row.created_at.toISOString() };
}
