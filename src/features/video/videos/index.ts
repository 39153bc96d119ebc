/**
 * Videos: files that come from an upload, an import or a broadcast, and everything derived from them.
 *
 * Terminology: the *original* is the file as received; a *rendition* is one rung that players choose from; a
 * *revision* is one processing with files of its own.
 */
export { audienceRoutes } from './audience/routes.ts';
export type { Audience } from './audience/service.ts';
export { createAudience } from './audience/service.ts';
export { transcribeJob } from './captions/auto.jobs.ts';
export { autoCaptionRoutes } from './captions/auto.routes.ts';
export { createAutoCaptions } from './captions/auto.service.ts';
export { captionRoutes } from './captions/routes.ts';
export type { Captions } from './captions/service.ts';
export { createCaptions } from './captions/service.ts';
export { createTranscribeWorker } from './captions/transcribe.ts';
export { createClipCutting } from './clips/cutting.service.ts';
export { clipJob } from './clips/jobs.ts';
export { clipRoutes } from './clips/routes.ts';
export { type ClippedStreams, createClips } from './clips/service.ts';
export {
  videoDeleted,
  videoEvents,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
} from './events.ts';
export type { IntakeVideo, VideoIntake, VideoProcessing } from './intake/service.ts';
export { createVideoIntake } from './intake/service.ts';
export type { GrowingReservation } from './intake/storage-reservation.service.ts';
export { countLiveSlots, createTranscodeNode } from './processing/nodes.ts';
export type { VideoProcessor } from './processing/processing.service.ts';
export { createVideoProcessing, processingJobs } from './processing/processing.service.ts';
export { topHeight } from './processing/rules.ts';
export type { VideoPurge } from './purge.service.ts';
export { createVideoPurge } from './purge.service.ts';
export { canBePlayed } from './renditions.schemas.ts';
export { replacementRoutes } from './replacement/routes.ts';
export { createReplacements } from './replacement/service.ts';
export { countPublicVideos, hasVideo, type VideoDetails } from './repository.ts';
export { createRetention } from './retention.service.ts';
export { videoRoutes } from './routes.ts';
export { toLinked } from './schemas.ts';
export type { OnVideoDeleted, UploadOpener, UploadSessions, Videos } from './service.ts';
export { createVideos } from './service.ts';
export { createVideoSnapshots } from './snapshot.service.ts';
export type { VideoTakedowns } from './takedown.service.ts';
export { createVideoTakedowns } from './takedown.service.ts';
export { thumbnailRoutes } from './thumbnails/routes.ts';
export type { Thumbnails } from './thumbnails/service.ts';
export { createThumbnails } from './thumbnails/service.ts';
export { createLockVideo } from './with-locked-video.ts';
