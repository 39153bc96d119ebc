import Type from 'typebox';
import { requiresGate } from '../../../http/access.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { defineRoute, type Limit, type Route } from '../../../http/route.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { Erasure } from './erasure.service.ts';
import type { ExportRow } from './exports.repository.ts';
import type { Exports } from './exports.service.ts';

const DeleteIn = namedSchema(
  'AccountDelete',
  Type.Object({ password: Type.String({ description: 'Password of the account to delete.' }) }),
  { password: 'correct horse battery' },
);

const DeletedAccount = namedSchema(
  'DeletedAccount',
  Type.Object({
    id: IdOf('usr'),
    deleted: Type.Literal(true),
    erasedAt: Type.String({
      format: 'date-time',
      description: 'Until this time, the account can be restored with an emailed link.',
    }),
  }),
  { id: 'usr_01kafe3n4pfx2v9yq6m8d7t5zr', deleted: true, erasedAt: '2026-11-27T09:00:00.000Z' },
);

const ExportOut = namedSchema(
  'AccountExport',
  Type.Object({
    id: IdOf('exp'),
    status: OneOf(VALUES.account_export.status),
    sizeBytes: Nullable(Type.Integer()),
    url: Nullable(Type.String({ description: 'Signed URL: anyone with it can download the archive.' })),
    createdAt: Instant,
    readyAt: Nullable(Instant),
    expiresAt: Nullable(Instant),
  }),
  {
    id: 'exp_01kafe3n4pfx2v9yq6m8d7t5zr',
    status: 'PENDING',
    sizeBytes: null,
    url: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    readyAt: null,
    expiresAt: null,
  },
);

const EXPORT_CAPS: readonly Limit[] = [
  { bucket: 'account-export', per: 'key', max: 5, windowSec: 'day', refusal: 'RATE_LIMITED' },
];

interface Deps {
  erasure: Pick<Erasure, 'request'>;
  exports: Pick<Exports, 'start' | 'latest' | 'urlOf'>;
  /** Limits of a route that checks a password, shared with sign-in. */
  limits: readonly Limit[];
}

/** `DELETE /me` and `/me/export` (docs/concepts/me.md#deleting-the-account). */
export function privacyRoutes({ erasure, exports, limits }: Deps): Route[] {
  const out = (row: ExportRow) => ({
    id: row.id,
    status: row.status,
    sizeBytes: row.size_bytes,
    url: exports.urlOf(row),
    createdAt: row.created_at.toISOString(),
    readyAt: row.ready_at?.toISOString() ?? null,
    expiresAt: row.expires_at?.toISOString() ?? null,
  });
  return [
    defineRoute({
      ...requiresGate('session-owner'),
      onlyMode: 'live',
      recentPassword: true,
      operationId: 'me.export',
      method: 'POST',
      path: '/me/export',
      summary: 'Export account data',
      description:
        'A ZIP with the rows of every table as JSON and the original video files, available for seven days; a link is emailed when it is ready. One export at a time, five per day.',
      limits: EXPORT_CAPS,
      reply: { status: 201, schema: ExportOut },
      errors: ['CONFLICT'],
      handler: async ({ caller }) => out(await exports.start(caller.accountId)),
    }),
    defineRoute({
      ...requiresGate('session-owner'),
      onlyMode: 'live',
      recentPassword: true,
      operationId: 'me.getExport',
      method: 'GET',
      path: '/me/export',
      summary: 'Get the latest data export',
      description: 'The latest export, with its URL once it is ready. Returns 404 if there is none.',
      reply: { status: 200, schema: ExportOut },
      errors: ['NOT_FOUND'],
      handler: async ({ caller }) => out(await exports.latest(caller.accountId)),
    }),
    defineRoute({
      ...requiresGate('session-owner'),
      onlyMode: 'live',
      operationId: 'me.delete',
      method: 'DELETE',
      path: '/me',
      summary: 'Delete the account',
      description:
        'Closes the account immediately and erases it with all its data after seven days. Returns 409 and lists the items that must end first.',
      limits,
      body: DeleteIn,
      reply: { status: 200, schema: DeletedAccount },
      errors: ['INVALID_CREDENTIALS', 'CONFLICT', 'SERVICE_UNAVAILABLE'],
      async handler({ caller: { accountId: id }, session, ip }, { body }) {
        const { erasedAt } = await erasure.request(id, body.password, { ip });
        session.clear();
        return { id, deleted: true, erasedAt: erasedAt.toISOString() };
      },
    }),
  ];
}
