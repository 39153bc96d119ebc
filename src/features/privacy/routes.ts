import Type from 'typebox';
import { gated } from '../../http/access.ts';
import { named } from '../../http/named.ts';
import { defineRoute, type Limit, type Route } from '../../http/route.ts';
import { IdOf } from '../../http/schema.ts';
import type { Erasure } from './erasure.service.ts';

const DeleteIn = named(
  'AccountDelete',
  Type.Object({ password: Type.String({ description: 'Of the account, once more.' }) }),
  { password: 'correct horse battery' },
);

const DeletedAccount = named(
  'DeletedAccount',
  Type.Object({
    id: IdOf('usr'),
    deleted: Type.Literal(true),
    erasedAt: Type.String({
      format: 'date-time',
      description: 'Until then a link in a mail brings it back.',
    }),
  }),
  { id: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr', deleted: true, erasedAt: '2026-11-27T09:00:00.000Z' },
);

interface Deps {
  erasure: Pick<Erasure, 'request'>;
  /** It checks a password, so it counts as a sign-in does. */
  limits: readonly Limit[];
}

/** `DELETE /me` (docs/api/me.md#deleting-the-account). */
export function privacyRoutes({ erasure, limits }: Deps): Route[] {
  return [
    defineRoute({
      ...gated('session-owner'),
      onlyMode: 'live',
      operationId: 'me.delete',
      method: 'DELETE',
      path: '/me',
      summary: 'Delete the account',
      description:
        'It is closed at once, and erased seven days later with everything that it has. 409 says what has to end before.',
      limits,
      body: DeleteIn,
      reply: { status: 200, schema: DeletedAccount },
      errors: ['INVALID_CREDENTIALS', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      async handler({ caller: { accountId: id }, session }, { body }) {
        const { erasedAt } = await erasure.request(id, body.password);
        session.drop();
        return { id, deleted: true, erasedAt: erasedAt.toISOString() };
      },
    }),
  ];
}
