import Type from 'typebox';
import { checkedIfSent } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, parseList } from '../../../http/schema.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { CHANGE_TYPES } from '../../../kernel/release.ts';
import { Release, toRelease } from './schemas.ts';
import type { Changelog } from './service.ts';

const path = '/changelog';

interface Deps {
  changelog: Changelog;
  cursors: CursorCodec;
}

/** `/changelog` (docs/concepts/changelog.md). */
export function changelogRoutes({ changelog, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...checkedIfSent,
      operationId: 'changelog.list',
      method: 'GET',
      path,
      summary: 'List API releases',
      description:
        'Includes the changes of each release. Releases without entries of the requested types are omitted.',
      query: listQuery({
        since: Type.Optional(
          Type.String({
            description:
              'A version returns later releases; a date (`2026-11-01`) returns releases from that day on.',
          }),
        ),
        type: CommaList(CHANGE_TYPES),
      }),
      reply: { status: 200, schema: Release, list: true },
      async handler(_context, { query }) {
        const list = new ListReader(cursors, 'changelog', query);
        const types = parseList('type', CHANGE_TYPES, query.type) ?? null;
        const rows = changelog.list({ since: query.since ?? null, types }, list.request);
        return list.page(
          rows.map((row) => ({ ...row, id: row.version })),
          toRelease,
        );
      },
    }),
    defineRoute({
      ...checkedIfSent,
      operationId: 'changelog.latest',
      method: 'GET',
      path: `${path}/latest`,
      summary: 'Get the latest API release',
      description: 'The release used when no `Svc-API-Version` is sent.',
      reply: { status: 200, schema: Release },
      handler: async () => toRelease(changelog.latest()),
    }),
    defineRoute({
      ...checkedIfSent,
      operationId: 'changelog.get',
      method: 'GET',
      path: `${path}/{version}`,
      summary: 'Get an API release',
      description: 'By full version, such as `1.0.0`.',
      params: Type.Object({ version: Type.String({ description: 'Version number, such as `1.0.0`.' }) }),
      reply: { status: 200, schema: Release },
      handler: async (_context, { params }) => toRelease(changelog.get(params.version)),
    }),
  ];
}
