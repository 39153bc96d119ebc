import Type, { type Static, type TObject } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, NullableObject, OneOf, Problem, Title } from '../../../http/schema.ts';
import { Takedown, toTakedown } from '../../../http/takedown.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { PROCESSING_NOTE_CODES } from '../../../media/contract/index.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { LinkedVideo, VideoLinks } from '../../audience/playback/index.ts';
import { settingsOf, videoFields } from './fields.ts';
import {
  AudioTrack,
  canBePlayed,
  PendingRendition,
  Rendition,
  toAudioTracks,
  toPending,
  toRenditions,
} from './renditions.schemas.ts';
import { Replacement, toReplacement } from './replacement/schemas.ts';
import type { VideoDetails } from './repository.ts';
import { aspectRatio } from './rules.ts';

const MAX_DURATION_SEC = 43_200;

namedSchema('VideoStatus', OneOf(VALUES.video.status));

const Chapter = namedSchema(
  'Chapter',
  Type.Object({
    startSec: Type.Number({ minimum: 0, maximum: MAX_DURATION_SEC }),
    title: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
  }),
  { startSec: 0, title: 'Opening' },
);

const settings = {
  ...videoFields.input,
  chapters: Type.Optional(
    Type.Array(Chapter, { maxItems: 200, description: 'Sorted by start; starts must be unique.' }),
  ),
};

/**
 * Fields that describe the file of a new video or of a replacement; the upload session is created from them.
 */
export const file = {
  filename: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'File name; must not be blank.' }),
  ),
  sizeBytes: Type.Optional(
    Type.Integer({ description: 'If omitted, the length is sent when the transfer starts.' }),
  ),
  mimeType: Type.Optional(
    Type.String({ minLength: 1, maxLength: 255, description: 'Media type, such as `video/mp4`.' }),
  ),
  corsOrigin: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 255,
        description: 'The only origin allowed to upload; defaults to any.',
      }),
    ),
  ),
};

export const VideoIn = namedSchema(
  'VideoCreate',
  Type.Object({
    ...settings,
    title: Title,
    publishAt: Type.Optional(
      Nullable(
        Type.String({
          format: 'date-time',
          description: 'The video is PRIVATE until this time and PUBLIC afterwards. At most one year ahead.',
        }),
      ),
    ),
    ...file,
  }),
  {
    title: 'A film',
    visibility: 'PRIVATE',
    tags: ['documentary'],
    filename: 'film.mp4',
    sizeBytes: 734_003_200,
    mimeType: 'video/mp4',
  },
);
export type VideoIn = Static<typeof VideoIn>;

export const VideoPatch = namedSchema('VideoUpdate', Type.Object(settings), {
  title: 'A longer film',
  chapters: [{ startSec: 0, title: 'Opening' }],
});
export type VideoPatch = Static<typeof VideoPatch>;

export const PublishIn = namedSchema(
  'VideoPublish',
  Type.Object({
    at: Type.Optional(Nullable(Type.String({ format: 'date-time', description: 'At most one year ahead.' }))),
  }),
  { at: '2026-11-28T20:00:00.000Z' },
);

const captionFields = {
  language: Type.String({ description: 'BCP 47 language tag.', examples: ['en', 'pt-BR'] }),
  label: Type.String(),
  url: Type.String(),
  isAuto: Type.Boolean(),
  isDefault: Type.Boolean({ description: 'Whether it is shown by default.' }),
};
export const Caption = namedSchema('Caption', Type.Object(captionFields), {
  language: 'en',
  label: 'English',
  url: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/captions/en.vtt',
  isAuto: false,
  isDefault: false,
});

const Processing = Type.Object({
  notes: Type.Array(
    namedSchema(
      'ProcessingNote',
      Type.Object({ code: OneOf(PROCESSING_NOTE_CODES), message: Type.String() }),
      {
        code: 'CAPTIONS_LEFT_OUT',
        message: 'Track 4 (German) was omitted: its subtitles are images (PGS), not text.',
      },
    ),
    { description: 'Parts of the file that were omitted, and why.' },
  ),
});

export const Video = namedSchema(
  'Video',
  Type.Object({
    id: IdOf('vid'),
    ...videoFields.output,
    status: OneOf(VALUES.video.status),
    durationSec: Nullable(Type.Number()),
    width: Nullable(Type.Integer()),
    height: Nullable(Type.Integer()),
    frameRate: Nullable(Type.Number()),
    sizeBytes: Nullable(Type.Integer({ description: 'Size of the original file.' })),
    aspectRatio: Nullable(Type.String({ examples: ['16:9'] })),
    progressPercent: Type.Number({ minimum: 0, maximum: 100 }),
    error: NullableObject(Problem),
    source: OneOf(VALUES.video.source),
    uploadId: Nullable(IdOf('upl')),
    importId: Nullable(IdOf('imp')),
    streamId: Nullable(IdOf('str')),
    thumbnailUrl: Nullable(Type.String()),
    previewUrl: Nullable(Type.String({ description: 'A short animated preview.' })),
    storyboardUrl: Nullable(
      Type.String({ description: 'WebVTT storyboard with thumbnails for the seek bar.' }),
    ),
    playbackUrl: Nullable(
      Type.String({ description: 'HLS master playlist; set as soon as one rendition is playable.' }),
    ),
    embedUrl: Nullable(Type.String()),
    renditions: Type.Array(Rendition, {
      description: 'Playable renditions, highest first. Codecs other than H264 follow after READY.',
    }),
    pendingRenditions: Type.Array(PendingRendition, {
      description: 'Renditions in progress, highest first.',
    }),
    audioTracks: Type.Array(AudioTrack, {
      description: 'Audio tracks, default first; empty for a silent video.',
    }),
    captions: Type.Array(Caption),
    chapters: Type.Array(Chapter),
    processing: Processing,
    replacement: NullableObject(Replacement),
    viewCount: Type.Integer(),
    publishedAt: Nullable(Instant),
    publishAt: Nullable(Instant),
    takedown: NullableObject(Takedown),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    ...videoFields.example,
    status: 'READY',
    durationSec: 450.5,
    width: 1920,
    height: 1080,
    frameRate: 30,
    sizeBytes: 734_003_200,
    aspectRatio: '16:9',
    progressPercent: 100,
    error: null,
    source: 'UPLOAD',
    uploadId: 'upl_01kafe3n4pfx2v9yq6m8d7t5zr',
    importId: null,
    streamId: null,
    thumbnailUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/r1a1/img/poster.jpg',
    previewUrl: null,
    storyboardUrl: null,
    playbackUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8',
    embedUrl: 'https://video.example.com/embed/vid_01kafe3n4pfx2v9yq6m8d7t5zr',
    renditions: [
      { name: '1080p', codec: 'H264', width: 1920, height: 1080, bitrate: 4_500_000, frameRate: 30 },
    ],
    pendingRenditions: [],
    audioTracks: [{ language: 'en', label: 'English', channels: 6, isDefault: true, isDescription: false }],
    captions: [],
    chapters: [],
    processing: { notes: [] },
    replacement: null,
    viewCount: 1024,
    publishedAt: '2026-11-20T09:00:00.000Z',
    publishAt: null,
    takedown: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);
export type Video = Static<typeof Video>;

/** A video whose file is to come. @param Upload the shape of an upload session. */
export function newVideo(Upload: TObject) {
  return namedSchema(
    'NewVideo',
    Type.Object({
      ...Video.properties,
      upload: Type.Object(Upload.properties, { description: 'Upload target.' }),
    }),
  );
}

/**
 * Returns the schema of a video with the upload session of its next file, where that is not fetched from a
 * URL.
 */
export function replacedVideo(Upload: TObject) {
  return namedSchema(
    'ReplacedVideo',
    Type.Object({
      ...Video.properties,
      upload: NullableObject(
        Type.Object(Upload.properties, { description: 'Upload target; null if the file is fetched.' }),
      ),
    }),
  );
}

type LinkColumns = 'id' | 'visibility' | 'image_folder' | 'has_preview' | 'has_storyboard' | 'thumbnail_file';

export function toLinked(row: Pick<VideoDetails, LinkColumns>, isPlayable: boolean): LinkedVideo {
  return {
    id: row.id,
    visibility: row.visibility,
    isPlayable,
    imageFolder: row.image_folder,
    hasPreview: row.has_preview,
    hasStoryboard: row.has_storyboard,
    thumbnailFile: row.thumbnail_file,
  };
}

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toVideo(row: VideoDetails, view: { mode: Mode; links: VideoLinks }): Video {
  const { links, mode } = view;
  const linked = toLinked(row, canBePlayed(row));
  return {
    id: row.id,
    ...settingsOf(row),
    status: row.status,
    durationSec: row.duration_sec,
    width: row.width,
    height: row.height,
    frameRate: row.frame_rate,
    sizeBytes: row.size_bytes,
    aspectRatio: aspectRatio(row.width, row.height),
    progressPercent: row.progress_percent,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    source: row.source,
    uploadId: row.upload_id,
    importId: row.import_id,
    streamId: row.stream_id,
    thumbnailUrl: links.thumbnailUrl(linked),
    previewUrl: links.previewUrl(linked),
    storyboardUrl: links.storyboardUrl(linked),
    playbackUrl: links.playbackUrl(linked),
    embedUrl: links.embedUrl(linked),
    renditions: toRenditions(row),
    pendingRenditions: row.status === 'PROCESSING' ? toPending(row) : [],
    audioTracks: toAudioTracks(row),
    captions: row.captions.map((caption) => toCaption(caption, linked, links)),
    chapters: row.chapters,
    processing: { notes: row.processing_notes },
    replacement: row.replacement === null ? null : toReplacement(row.replacement),
    viewCount: row.view_count,
    publishedAt: iso(row.published_at),
    publishAt: iso(row.publish_at),
    takedown: toTakedown(row),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    mode,
  };
}

export function toCaption(
  caption: { language: string; label: string; file: string; is_auto: boolean; is_default: boolean },
  linked: LinkedVideo,
  links: VideoLinks,
): Static<typeof Caption> {
  const { language, label, file, is_auto: isAuto, is_default: isDefault } = caption;
  return { language, label, url: links.captionUrl(linked, file), isAuto, isDefault };
}
