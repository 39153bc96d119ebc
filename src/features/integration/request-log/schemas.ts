import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { CommaTexts, Instant, Nullable } from '../../../http/schema.ts';
import type { RequestRow } from './repository.ts';

export const RequestOut = namedSchema(
  'AnsweredRequest',
  Type.Object({
    requestId: Type.String({ description: '`X-SVC-Request-Id` of the response.' }),
    method: Type.String(),
    path: Type.String({ description: 'Request path without the query; secrets are replaced by `*`.' }),
    status: Type.Integer(),
    code: Nullable(Type.String({ description: '`error.code` of the response.' })),
    keyId: Nullable(Type.String({ description: 'ID of the API key; null for a dashboard session.' })),
    ms: Type.Number({ description: 'Response time in milliseconds.' }),
    at: Type.String({ ...Instant, description: 'When the response was sent.' }),
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
  requestId: Type.Optional(Type.String({ description: '`X-SVC-Request-Id` of a response (UUID).' })),
  status: CommaTexts('Status codes such as 404, classes such as 4xx, or `errors` for 4xx and 5xx.'),
  path: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Full path, with or without the path of the base URL; a trailing `*` matches anything.',
      examples: ['/streams/*'],
    }),
  ),
  keyId: Type.Optional(Type.String({ maxLength: 64, description: 'Only requests with this API key.' })),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only requests answered at or after this time.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only requests answered before this time.' }),
  ),
};

export function toRequest(row: RequestRow): Static<typeof RequestOut> {
  const { request_id: requestId, method, path, status, code, key_id: keyId, ms } = row;
  return { requestId, method, path, status, code, keyId, ms, at: row.created_at.toISOString() };
}
