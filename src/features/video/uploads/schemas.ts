import Type, { type Static, type TSchema } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import {
  IdOf,
  Instant,
  Metadata,
  Nullable,
  NullableObject,
  OneOf,
  Problem,
  Title,
  Visibility,
} from '../../../http/schema.ts';
import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { UploadRow } from './repository.ts';
import { CHUNK_BYTES } from './rules.ts';

namedSchema('UploadStatus', OneOf(VALUES.upload.status));

const Sha256 = Type.String({
  pattern: '^[0-9a-fA-F]{64}$',
  description: 'SHA-256 of the complete file, in hexadecimal.',
});

const Size = Type.Integer({ minimum: 1, maximum: MAX_FILE_BYTES, description: 'Exact size of the file.' });

const creation = <S extends TSchema>(sizeBytes: S) =>
  Type.Object({
    filename: Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' }),
    sizeBytes,
    mimeType: Type.Optional(
      Type.String({ maxLength: 127, pattern: '^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$' }),
    ),
    sha256: Type.Optional(Sha256),
    videoId: Type.Optional(
      Type.String({
        description:
          'ID of a video waiting for its file. If omitted, a new video is created from the fields below.',
      }),
    ),
    title: Type.Optional(Title),
    description: Type.Optional(Nullable(Type.String({ maxLength: 5000 }))),
    visibility: Type.Optional(Visibility),
    metadata: Type.Optional(Metadata),
    corsOrigin: Type.Optional(
      Nullable(
        Type.String({
          maxLength: 255,
          description: 'The only origin allowed to upload; defaults to any.',
        }),
      ),
    ),
  });

export const UploadIn = namedSchema('UploadCreate', creation(Size), {
  filename: 'film.mp4',
  sizeBytes: 734_003_200,
  mimeType: 'video/mp4',
  title: 'A film',
});
/** Fields of a tus creation; the length may be sent later. */
export const TusCreation = creation(Nullable(Size));

export const CompleteIn = namedSchema('UploadComplete', Type.Object({ sha256: Type.Optional(Sha256) }), {
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
});

export const Upload = namedSchema(
  'Upload',
  Type.Object({
    id: IdOf('upl'),
    videoId: IdOf('vid'),
    status: OneOf(VALUES.upload.status),
    protocol: OneOf(VALUES.upload.protocol),
    uploadUrl: Nullable(
      Type.String({
        description:
          'URL for uploading with tus 1.0 or one PUT; anyone with it can upload. Null if the key cannot write uploads.',
      }),
    ),
    corsOrigin: Nullable(Type.String()),
    filename: Type.String(),
    sizeBytes: Nullable(Type.Integer({ description: 'Null until the client sends it.' })),
    receivedBytes: Type.Integer({
      description: 'Durably stored bytes; lags by a few seconds during the transfer.',
    }),
    mimeType: Type.String(),
    sha256: Nullable(Type.String()),
    chunkSizeBytes: Type.Integer({ description: 'Recommended chunk size for clients that split the file.' }),
    expiresAt: Instant,
    error: NullableObject(Problem),
    replaces: Type.Boolean({
      description:
        'Whether the upload replaces the file of an existing video, which keeps playing until the new file is ready.',
    }),
    createdAt: Instant,
  }),
  {
    id: 'upl_01kafe3n4pfx2v9yq6m8d7t5zr',
    videoId: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    status: 'UPLOADING',
    protocol: 'TUS',
    uploadUrl: 'https://video.example.com/uploads/pC7yJ0wq3kTq8ZrW1xY6vB0nM4sD7fGh2LxQe9UaHdM',
    corsOrigin: null,
    filename: 'film.mp4',
    sizeBytes: 734_003_200,
    receivedBytes: 104_857_600,
    mimeType: 'video/mp4',
    sha256: null,
    chunkSizeBytes: 16_777_216,
    expiresAt: '2026-11-20T09:00:00.000Z',
    error: null,
    replaces: false,
    createdAt: '2026-11-20T09:00:00.000Z',
  },
);
export type Upload = Static<typeof Upload>;

/** @param uploadUrl null hides it. */
export function toUpload(row: UploadRow, uploadUrl: string | null): Upload {
  return {
    id: row.id,
    videoId: row.video_id,
    status: row.status,
    protocol: row.protocol,
    uploadUrl,
    corsOrigin: row.cors_origin,
    filename: row.filename,
    sizeBytes: row.size_bytes,
    receivedBytes: row.received_bytes,
    mimeType: row.mime_type,
    sha256: row.sha256,
    chunkSizeBytes: CHUNK_BYTES,
    expiresAt: row.expires_at.toISOString(),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    replaces: row.replaces,
    createdAt: row.created_at.toISOString(),
  };
}
