import Type from 'typebox';
import { defineJob } from '../../../../jobs/job.ts';
import { ENCODE_TASKS, type EncodeTask, IMAGES_TASKS, type ImagesTask } from './rules.ts';

/** Three tries (docs/concepts/videos.md#failures). */
const RETRY_SEC = [15, 120];
const TWO_TRIES_SEC = [10];

const target = { videoId: Type.String(), revision: Type.Integer({ minimum: 0 }) };

/** Probes the original, decides what is made of it and makes what costs next to nothing. */
export const prepareJob = defineJob({
  name: 'video.prepare',
  payload: Type.Object(target),
  retrySec: RETRY_SEC,
});

/**
 * Everything that takes a transcode slot, in one queue, so that its priorities hold between all of it: the first
 * rung, the rest of the ladder, and for long sources the cutting, each chunk, and the joining.
 */
export const encodeJob = defineJob({
  name: 'video.encode',
  payload: Type.Object({
    ...target,
    task: Type.Unsafe<EncodeTask>({ type: 'string', enum: [...ENCODE_TASKS] }),
    chunk: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
  }),
  retrySec: RETRY_SEC,
});

/** The renditions in other codecs than H.264, once the video is READY: nobody waits for them. */
export const additionalCodecsJob = defineJob({
  name: 'video.further',
  payload: Type.Object(target),
  retrySec: TWO_TRIES_SEC,
});

/** Poster, preview and storyboard, where no encode makes them on the way. Without a task it is of an older version: all. */
export const imagesJob = defineJob({
  name: 'video.images',
  payload: Type.Object({
    ...target,
    task: Type.Optional(Type.Unsafe<ImagesTask>({ type: 'string', enum: [...IMAGES_TASKS] })),
  }),
  retrySec: TWO_TRIES_SEC,
});

/** The captions that come with the file. */
export const captionsJob = defineJob({
  name: 'video.captions',
  payload: Type.Object(target),
  retrySec: TWO_TRIES_SEC,
});

/** A moment of the video becomes its thumbnail. */
export const thumbnailJob = defineJob({
  name: 'video.thumbnail',
  payload: Type.Object({ videoId: Type.String(), atSec: Type.Number({ minimum: 0 }) }),
  retrySec: TWO_TRIES_SEC,
});

/** Removes the folders of a processed video that nothing points to: of former revisions and of broken runs. */
export const cleanUpJob = defineJob({
  name: 'media.delete',
  payload: Type.Object({ videoId: Type.String() }),
  retrySec: [60, 600, 3600],
});
