import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import {
  IdOf,
  Instant,
  Metadata,
  Nullable,
  NullableObject,
  OneOf,
  SourceUrl,
  Title,
  Visibility,
} from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { ImportRow } from './repository.ts';
import { progressOf } from './rules.ts';

namedSchema('ImportStatus', OneOf(VALUES.import.status));
namedSchema('ImportProvider', OneOf(VALUES.import.provider));

export const ImportIn = namedSchema(
  'ImportCreate',
  Type.Object({
    sourceUrl: SourceUrl,
    title: Type.Optional({ ...Title, description: 'Defaults to the file name.' }),
    visibility: Type.Optional({ ...Visibility, description: 'Defaults to PUBLIC.' }),
    metadata: Type.Optional(Metadata),
  }),
  { sourceUrl: 'https://files.example.com/film.mp4', title: 'A film', visibility: 'PRIVATE' },
);
export type ImportIn = Static<typeof ImportIn>;

export const Import = namedSchema(
  'Import',
  Type.Object({
    id: IdOf('imp'),
    videoId: Nullable(IdOf('vid', 'ID of the video created from the file.')),
    replaces: Type.Boolean({ description: 'Whether the import replaces the file of an existing video.' }),
    sourceUrl: Type.String(),
    provider: OneOf(VALUES.import.provider),
    status: OneOf(VALUES.import.status),
    progressPercent: Type.Integer({
      minimum: 0,
      maximum: 100,
      description:
        'Progress of the download; 0 while the length is unknown. Video processing has its own progress.',
    }),
    bytesTotal: Nullable(Type.Integer({ description: 'Null until the server reports it.' })),
    bytesReceived: Type.Integer(),
    error: NullableObject(
      Type.Object({
        code: Type.String({ description: 'A video error code, or `QUOTA_EXCEEDED`.' }),
        message: Type.String(),
      }),
    ),
    createdAt: Instant,
    completedAt: Nullable(Instant),
  }),
  {
    id: 'imp_01kafe3n4pfx2v9yq6m8d7t5zr',
    videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    replaces: false,
    sourceUrl: 'https://files.example.com/film.mp4',
    provider: 'URL',
    status: 'DOWNLOADING',
    progressPercent: 40,
    bytesTotal: 734_003_200,
    bytesReceived: 293_601_280,
    error: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    completedAt: null,
  },
);

export function toImport(row: ImportRow): Static<typeof Import> {
  const { error_code: code, error_message: message } = row;
  return {
    id: row.id,
    videoId: row.video_id,
    replaces: row.replaces,
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
