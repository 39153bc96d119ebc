import { requiresRead, requiresWrite } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Deleted, IdParams } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { DomainIn, IntegrationDomain, toDomain } from './schemas.ts';
import type { Domains } from './service.ts';

const Id = IdParams('dom', 'integration domain');

const path = '/me/integration-domains';

interface Deps {
  domains: Domains;
  cursors: CursorCodec;
}

/** `/me/integration-domains` (docs/concepts/integration-domains.md). */
export function domainRoutes({ domains, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresWrite('domains:write'),
      operationId: 'integrationDomains.create',
      method: 'POST',
      path,
      summary: 'Add an integration domain',
      description:
        'A live domain is PENDING until its TXT record or verification file is found; a test domain is VERIFIED immediately.',
      body: DomainIn,
      reply: { status: 201, schema: IntegrationDomain },
      errors: ['CONFLICT', 'QUOTA_EXCEEDED'],
      handler: async ({ caller }, { body }) => toDomain(await domains.declare(caller, body), caller.mode),
    }),
    defineRoute({
      ...requiresRead('domains:read'),
      operationId: 'integrationDomains.list',
      method: 'GET',
      path,
      summary: 'List integration domains',
      description: 'Includes the required verification record and when it was last seen.',
      query: listQuery({}),
      reply: { status: 200, schema: IntegrationDomain, list: true },
      async handler({ caller }, { query }) {
        const list = new ListReader(cursors, `integration-domains:${caller.workspaceId}`, query);
        const rows = await domains.list(caller.workspaceId, list.request);
        return list.page(rows, (row) => toDomain(row, caller.mode));
      },
    }),
    defineRoute({
      ...requiresRead('domains:read'),
      operationId: 'integrationDomains.get',
      method: 'GET',
      path: `${path}/{id}`,
      summary: 'Get an integration domain',
      description: 'Includes the DNS record and file to publish for verification.',
      params: Id,
      reply: { status: 200, schema: IntegrationDomain },
      handler: async ({ caller }, { params }) =>
        toDomain(await domains.get(caller.workspaceId, params.id), caller.mode),
    }),
    defineRoute({
      ...requiresWrite('domains:write'),
      operationId: 'integrationDomains.delete',
      method: 'DELETE',
      path: `${path}/{id}`,
      summary: 'Remove an integration domain',
      description: 'Invalidates the verification token. Adding the domain again creates a new one.',
      params: Id,
      reply: { status: 200, schema: Deleted },
      async handler({ caller }, { params }) {
        await domains.remove(caller.workspaceId, params.id);
        return { id: params.id, deleted: true };
      },
    }),
    defineRoute({
      ...requiresWrite('domains:write'),
      operationId: 'integrationDomains.verify',
      method: 'POST',
      path: `${path}/{id}/verify`,
      summary: 'Verify an integration domain now',
      description: 'A missing record is not an error: check `status` and `lastError`.',
      limits: [
        { bucket: 'domain-verify', per: 'key', param: 'id', max: 1, windowSec: 10, refusal: 'RATE_LIMITED' },
      ],
      params: Id,
      reply: { status: 200, schema: IntegrationDomain },
      handler: async ({ caller }, { params }) =>
        toDomain(await domains.verify(caller, params.id), caller.mode),
    }),
  ];
}
