import Type from 'typebox';
import { defineJob } from '../../../../jobs/job.ts';
import { ENCODE_TASKS, type EncodeTask, IMAGES_TASKS, type ImagesTask } from './rules.ts';

/** Three tries (docs/concepts/videos.md#failures). */
const RETRY_SEC = [15, 120];
const TWO_TRIES_SEC = [10];

const target = { videoId: Type.String(), revision: Type.Integer({ minimum: 0 }) };

/** Job that probes the original, plans its renditions and performs the steps that cost next to nothing. */
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

/** Job that encodes the renditions in codecs other than H.264 in the background, once the video is READY. */
export const additionalCodecsJob = defineJob({
  name: 'video.further',
  payload: Type.Object(target),
  retrySec: TWO_TRIES_SEC,
});

/**
 * Job for poster, preview and storyboard, unless an encode creates them. Jobs of older versions have no task:
 * all images.
 */
export const imagesJob = defineJob({
  name: 'video.images',
  payload: Type.Object({
    ...target,
    task: Type.Optional(Type.Unsafe<ImagesTask>({ type: 'string', enum: [...IMAGES_TASKS] })),
  }),
  retrySec: TWO_TRIES_SEC,
});

/** Job for the captions that come with the file. */
export const captionsJob = defineJob({
  name: 'video.captions',
  payload: Type.Object(target),
  retrySec: TWO_TRIES_SEC,
});

/** Job that sets a moment of the video as its thumbnail. */
export const thumbnailJob = defineJob({
  name: 'video.thumbnail',
  payload: Type.Object({ videoId: Type.String(), atSec: Type.Number({ minimum: 0 }) }),
  retrySec: TWO_TRIES_SEC,
});

/** Job that removes unreferenced folders of a processed video, left by previous revisions and failed runs. */
export const cleanUpJob = defineJob({
  name: 'media.delete',
  payload: Type.Object({ videoId: Type.String() }),
  retrySec: [60, 600, 3600],
});
