import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../events/catalogue.ts';
import { Instant, Nullable, OneOf, Visibility } from '../../http/schema.ts';
import { VALUES } from '../../platform/db/tables.generated.ts';

const videoId = Type.String();
const sequence = Type.Integer({ minimum: 1, description: "Sequence number of this video's events." });
const attempt = Type.Integer({
  minimum: 0,
  description: 'Counts the processings of the video; 0 when it failed before the first.',
});
const changes = Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
  description: 'Changed fields with old and new values.',
});
const SAMPLE_ID = 'vid_01kafe3n4pfx2v9yq6m8d7t5zr';

const described = {
  videoId,
  title: Type.String(),
  status: OneOf(VALUES.video.status),
  visibility: Visibility,
  externalId: Nullable(Type.String()),
  source: OneOf(VALUES.video.source),
};
const SAMPLE = {
  videoId: SAMPLE_ID,
  title: 'Opening night',
  status: 'READY',
  visibility: 'PUBLIC',
  externalId: null,
  source: 'UPLOAD',
} as const;

// What happens to a video as a resource.

export const videoCreated = defineEvent({
  type: 'video.created',
  description: 'A video was created; its file may still have to come.',
  data: Type.Object({ ...described, sequence }),
  sample: { ...SAMPLE, status: 'UPLOADING', sequence: 1 },
});

export const videoUpdated = defineEvent({
  type: 'video.updated',
  description: 'The settings of a video were changed.',
  data: Type.Object({ ...described, changes, sequence }),
  sample: {
    ...SAMPLE,
    changes: { title: { from: 'Opening', to: 'Opening night' } },
    sequence: 6,
  },
});

export const videoDeleted = defineEvent({
  type: 'video.deleted',
  description: 'A video was deleted; it is not played any more.',
  data: Type.Object({ videoId, deletedAt: Instant, sequence }),
  sample: { videoId: SAMPLE_ID, deletedAt: '2026-11-21T09:00:00.000Z', sequence: 9 },
});

export const videoExpiring = defineEvent({
  type: 'video.expiring',
  description: 'A recording is deleted in seven days: the plan keeps it no longer.',
  data: Type.Object({
    videoId,
    title: Type.String(),
    deletesAt: Type.String({ ...Instant, description: 'Not before this.' }),
    sequence,
  }),
  sample: {
    videoId: SAMPLE_ID,
    title: 'Opening night',
    deletesAt: '2026-11-27T09:00:00.000Z',
    sequence: 8,
  },
  notice: {
    severity: 'INFO',
    words: ({ title, deletesAt, videoId: id }) => ({
      title: 'A recording is deleted soon',
      body: `The plan keeps "${title}" until ${deletesAt.slice(0, 10)}. A bigger plan keeps it longer.`,
      resource: { type: 'VIDEO', id },
    }),
  },
});

export const videoPublished = defineEvent({
  type: 'video.published',
  description: 'A ready video has left PRIVATE for the first time.',
  data: Type.Object({ videoId, visibility: Visibility, publishedAt: Instant, sequence }),
  sample: {
    videoId: SAMPLE_ID,
    visibility: 'PUBLIC',
    publishedAt: '2026-11-20T12:00:00.000Z',
    sequence: 7,
  },
});

export const videoUnpublished = defineEvent({
  type: 'video.unpublished',
  description: 'A ready video was made PRIVATE.',
  data: Type.Object({ videoId, visibility: Visibility, publishedAt: Nullable(Instant), sequence }),
  sample: {
    videoId: SAMPLE_ID,
    visibility: 'PRIVATE',
    publishedAt: '2026-11-20T12:00:00.000Z',
    sequence: 8,
  },
});

export const videoCaptionReady = defineEvent({
  type: 'video.caption.ready',
  description: 'A video has captions in a language, or new ones.',
  data: Type.Object({ videoId, language: Type.String(), isAuto: Type.Boolean(), sequence }),
  sample: { videoId: SAMPLE_ID, language: 'en', isAuto: false, sequence: 6 },
});

export const videoTakenDown = defineEvent({
  type: 'video.taken_down',
  description: 'The operator of the platform has taken a video down: nobody is shown it.',
  data: Type.Object({ videoId, title: Type.String(), reason: Type.String(), takenDownAt: Instant, sequence }),
  sample: {
    videoId: SAMPLE_ID,
    title: 'Opening night',
    reason: 'Somebody else owns the music.',
    takenDownAt: '2026-11-21T09:00:00.000Z',
    sequence: 9,
  },
  notice: {
    severity: 'CRITICAL',
    words: ({ title, reason, videoId: id }) => ({
      title: 'A video was taken down',
      body: `Nobody can watch "${title}" any more. The reason: ${reason} If you do not agree, open a support ticket.`,
      resource: { type: 'VIDEO', id },
    }),
  },
});

export const videoRestored = defineEvent({
  type: 'video.restored',
  description: 'A video that was taken down is shown again, as its visibility says.',
  data: Type.Object({ videoId, title: Type.String(), restoredAt: Instant, sequence }),
  sample: {
    videoId: SAMPLE_ID,
    title: 'Opening night',
    restoredAt: '2026-11-22T09:00:00.000Z',
    sequence: 10,
  },
  notice: {
    severity: 'INFO',
    words: ({ title, videoId: id }) => ({
      title: 'A video is back',
      body: `"${title}" is shown again, as its visibility says.`,
      resource: { type: 'VIDEO', id },
    }),
  },
});

// The way of a file to a playable video.

export const videoUploadCompleted = defineEvent({
  type: 'video.upload.completed',
  description: 'The file of an upload is complete and waits for processing.',
  data: Type.Object({ videoId, uploadId: Type.String(), sizeBytes: Type.Integer(), sequence }),
  sample: {
    videoId: SAMPLE_ID,
    uploadId: 'upl_01kafe3n4pfx2v9yq6m8d7t5zs',
    sizeBytes: 734_003_200,
    sequence: 2,
  },
});

export const videoProcessingStarted = defineEvent({
  type: 'video.processing.started',
  description: 'The processing of a video has begun, or was asked for again.',
  data: Type.Object({ videoId, attempt, sequence }),
  sample: { videoId: SAMPLE_ID, attempt: 1, sequence: 3 },
});

export const videoProcessingCompleted = defineEvent({
  type: 'video.processing.completed',
  description: 'Every rendition of a video is ready.',
  data: Type.Object({
    videoId: Type.String(),
    title: Type.String(),
    status: Type.Literal('READY'),
    durationSec: Nullable(Type.Number()),
    width: Nullable(Type.Integer()),
    height: Nullable(Type.Integer()),
    renditions: Type.Array(Type.String()),
    playbackUrl: Nullable(Type.String()),
    thumbnailUrl: Nullable(Type.String()),
    externalId: Nullable(Type.String()),
    completedAt: Instant,
    sequence,
  }),
  sample: {
    videoId: SAMPLE_ID,
    title: 'Opening night',
    status: 'READY',
    durationSec: 1834.5,
    width: 1920,
    height: 1080,
    renditions: ['1080p', '720p', '480p'],
    playbackUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8',
    thumbnailUrl: null,
    externalId: null,
    completedAt: '2026-11-20T09:00:00.000Z',
    sequence: 4,
  },
});

export const videoProcessingFailed = defineEvent({
  type: 'video.processing.failed',
  description: 'A video cannot be played: its file did not come, or could not be processed.',
  data: Type.Object({
    videoId,
    error: Type.Object({ code: Type.String(), message: Type.String() }),
    attempt,
    failedAt: Instant,
    sequence,
  }),
  sample: {
    videoId: SAMPLE_ID,
    error: { code: 'CORRUPT_INPUT', message: 'The file breaks off before its index.' },
    attempt: 1,
    failedAt: '2026-11-20T09:00:00.000Z',
    sequence: 4,
  },
  notice: {
    severity: 'WARNING',
    words: ({ error, videoId: id }) => {
      // An upload that was given up is no news to who gave it up.
      if (error.code === 'UPLOAD_EXPIRED') return null;
      return {
        title: 'A video could not be processed',
        body: `${error.message} The code is ${error.code}.`.trim(),
        resource: { type: 'VIDEO', id },
      };
    },
  },
});

// The way of a file that replaces another.

export const videoReplaced = defineEvent({
  type: 'video.replaced',
  description: 'A video plays a new file; its id, addresses, settings and views are as before.',
  data: Type.Object({
    videoId,
    title: Type.String(),
    uploadId: Nullable(Type.String()),
    importId: Nullable(Type.String()),
    durationSec: Nullable(Type.Number()),
    width: Nullable(Type.Integer()),
    height: Nullable(Type.Integer()),
    renditions: Type.Array(Type.String()),
    playbackUrl: Nullable(Type.String()),
    thumbnailUrl: Nullable(Type.String()),
    externalId: Nullable(Type.String()),
    replacedAt: Instant,
    sequence,
  }),
  sample: {
    videoId: SAMPLE_ID,
    title: 'Opening night',
    uploadId: 'upl_01kafe3n4pfx2v9yq6m8d7t5zs',
    importId: null,
    durationSec: 1830.1,
    width: 1920,
    height: 1080,
    renditions: ['1080p', '720p', '480p'],
    playbackUrl: 'https://video.example.com/v/vid_01kafe3n4pfx2v9yq6m8d7t5zr/master.m3u8',
    thumbnailUrl: null,
    externalId: null,
    replacedAt: '2026-11-22T09:00:00.000Z',
    sequence: 8,
  },
});

export const videoReplacementFailed = defineEvent({
  type: 'video.replacement.failed',
  description:
    'A file that was to replace that of a video did not come, or could not be processed. The video is as before.',
  data: Type.Object({
    videoId,
    title: Type.String(),
    uploadId: Nullable(Type.String()),
    importId: Nullable(Type.String()),
    error: Type.Object({ code: Type.String(), message: Type.String() }),
    failedAt: Instant,
    sequence,
  }),
  sample: {
    videoId: SAMPLE_ID,
    title: 'Opening night',
    uploadId: 'upl_01kafe3n4pfx2v9yq6m8d7t5zs',
    importId: null,
    error: { code: 'CORRUPT_INPUT', message: 'The file breaks off before its index.' },
    failedAt: '2026-11-22T09:00:00.000Z',
    sequence: 8,
  },
  notice: {
    severity: 'WARNING',
    words: ({ title, error, videoId: id }) => {
      // As with a video of its own.
      if (error.code === 'UPLOAD_EXPIRED') return null;
      return {
        title: 'A file could not be replaced',
        body: `"${title}" plays what it played before. ${error.message} The code is ${error.code}.`,
        resource: { type: 'VIDEO', id },
      };
    },
  },
});

export const videoEvents: EventDefinition[] = [
  videoCreated,
  videoUpdated,
  videoDeleted,
  videoExpiring,
  videoPublished,
  videoUnpublished,
  videoCaptionReady,
  videoTakenDown,
  videoRestored,
  videoUploadCompleted,
  videoProcessingStarted,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
];
