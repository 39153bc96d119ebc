import Type from 'typebox';
import { defineEvent, type EventDefinition } from '../../../events/catalogue.ts';
import { Instant, Nullable, OneOf, Visibility } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';

const videoId = Type.String();
const sequence = Type.Integer({ minimum: 1, description: "Sequence number of this video's events." });
const attempt = Type.Integer({
  minimum: 0,
  description: 'Processing attempt number; 0 if the video failed before the first.',
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

// Lifecycle events of a video.

export const videoCreated = defineEvent({
  type: 'video.created',
  description: 'A video was created. Its file may not have been uploaded yet.',
  data: Type.Object({ ...described, sequence }),
  sample: { ...SAMPLE, status: 'UPLOADING', sequence: 1 },
});

export const videoUpdated = defineEvent({
  type: 'video.updated',
  description: 'The settings of a video changed.',
  data: Type.Object({ ...described, changes, sequence }),
  sample: {
    ...SAMPLE,
    changes: { title: { from: 'Opening', to: 'Opening night' } },
    sequence: 6,
  },
});

export const videoDeleted = defineEvent({
  type: 'video.deleted',
  description: 'A video was deleted and no longer plays.',
  data: Type.Object({ videoId, deletedAt: Instant, sequence }),
  sample: { videoId: SAMPLE_ID, deletedAt: '2026-11-21T09:00:00.000Z', sequence: 9 },
});

export const videoExpiring = defineEvent({
  type: 'video.expiring',
  description: "A recording will be deleted in seven days because the plan's retention period ends.",
  data: Type.Object({
    videoId,
    title: Type.String(),
    deletesAt: Type.String({ ...Instant, description: 'Earliest time of deletion.' }),
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
      title: 'Recording will be deleted soon',
      body: `Your plan retains "${title}" until ${deletesAt.slice(0, 10)}. Upgrade to retain it longer.`,
      resource: { type: 'VIDEO', id },
    }),
  },
});

export const videoPublished = defineEvent({
  type: 'video.published',
  description: 'A ready video was published for the first time.',
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
  description: 'Captions of a video were added or replaced.',
  data: Type.Object({ videoId, language: Type.String(), isAuto: Type.Boolean(), sequence }),
  sample: { videoId: SAMPLE_ID, language: 'en', isAuto: false, sequence: 6 },
});

export const videoTakenDown = defineEvent({
  type: 'video.taken_down',
  description: 'The platform operator took a video down. It is no longer visible.',
  data: Type.Object({ videoId, title: Type.String(), reason: Type.String(), takenDownAt: Instant, sequence }),
  sample: {
    videoId: SAMPLE_ID,
    title: 'Opening night',
    reason: 'The music infringes third-party rights.',
    takenDownAt: '2026-11-21T09:00:00.000Z',
    sequence: 9,
  },
  notice: {
    severity: 'CRITICAL',
    words: ({ title, reason, videoId: id }) => ({
      title: 'Video taken down',
      body: `"${title}" can no longer be watched. Reason: ${reason} If you disagree, open a support ticket.`,
      resource: { type: 'VIDEO', id },
    }),
  },
});

export const videoRestored = defineEvent({
  type: 'video.restored',
  description: 'A takedown was reverted: the video is available again according to its visibility.',
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
      title: 'Video restored',
      body: `"${title}" is available again according to its visibility.`,
      resource: { type: 'VIDEO', id },
    }),
  },
});

// Events from the upload of a file to a playable video.

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
  description: 'Processing of a video started or was requested again.',
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
  description: 'A video failed: its file was not uploaded or could not be processed.',
  data: Type.Object({
    videoId,
    error: Type.Object({ code: Type.String(), message: Type.String() }),
    attempt,
    failedAt: Instant,
    sequence,
  }),
  sample: {
    videoId: SAMPLE_ID,
    error: { code: 'CORRUPT_INPUT', message: 'The file is truncated before its index.' },
    attempt: 1,
    failedAt: '2026-11-20T09:00:00.000Z',
    sequence: 4,
  },
  notice: {
    severity: 'WARNING',
    words: ({ error, videoId: id }) => {
      // The person who abandoned an upload needs no notification.
      if (error.code === 'UPLOAD_EXPIRED') return null;
      return {
        title: 'Video processing failed',
        body: `${error.message} Error code: ${error.code}.`.trim(),
        resource: { type: 'VIDEO', id },
      };
    },
  },
});

// Events of the replacement of a file.

export const videoReplaced = defineEvent({
  type: 'video.replaced',
  description: 'The file of a video was replaced; its ID, URLs, settings and views are unchanged.',
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
    'Replacing the file of a video failed: the new file was not uploaded or could not be processed. The video is unchanged.',
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
    error: { code: 'CORRUPT_INPUT', message: 'The file is truncated before its index.' },
    failedAt: '2026-11-22T09:00:00.000Z',
    sequence: 8,
  },
  notice: {
    severity: 'WARNING',
    words: ({ title, error, videoId: id }) => {
      // An abandoned upload needs no notification, as with a video's own upload.
      if (error.code === 'UPLOAD_EXPIRED') return null;
      return {
        title: 'File replacement failed',
        body: `"${title}" still plays its previous file. ${error.message} Error code: ${error.code}.`,
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
