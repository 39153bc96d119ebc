import Type, { type Static } from 'typebox';
import { Instant, Metadata, Nullable, NullableObject, OneOf, Title, Visibility } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';
import type { ImportRow } from './repository.ts';
import { progressOf } from './rules.ts';

export const ImportIn = Type.Object({
  sourceUrl: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'Of the file itself, or of a watch page of a PeerTube instance. `https:` or `http:`.',
  }),
  title: Type.Optional({ ...Title, description: 'The name of the file unless given.' }),
  visibility: Type.Optional({ ...Visibility, description: 'PUBLIC unless given.' }),
  metadata: Type.Optional(Metadata),
});
export type ImportIn = Static<typeof ImportIn>;

export const Import = Type.Object(
  {
    id: Type.String(),
    videoId: Nullable(Type.String({ description: 'The video that the file becomes.' })),
    sourceUrl: Type.String(),
    provider: OneOf(VALUES.import.provider),
    status: OneOf(VALUES.import.status),
    progressPercent: Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'Of the download; 0 while its length is not known. The video has a progress of its own.',
    }),
    bytesTotal: Nullable(Type.Integer({ description: 'Null until the server has said it.' })),
    bytesReceived: Type.Integer(),
    error: NullableObject(
      Type.Object({
        code: Type.String({ description: 'A code of videos, or `QUOTA_EXCEEDED`.' }),
        message: Type.String(),
      }),
    ),
    createdAt: Instant,
    completedAt: Nullable(Instant),
  },
  { $id: 'Import' },
);

export function toImport(row: ImportRow): Static<typeof Import> {
  const { error_code: code, error_message: message } = row;
  return {
    id: row.id,
    videoId: row.video_id,
    sourceUrl: row.source_url,
    provider: row.provider,
    status: row.status,
    progressPercent: progressOf(row.status, row.bytes_received, row.bytes_total),
    bytesTotal: row.bytes_total,
    bytesReceived: row.bytes_received,
    error: code === null ? null : { code, message: message ?? '' },
    createdAt: row.created_at.toISOString(),
    completedAt: row.completed_at?.toISOString() ?? null,
  };
}
