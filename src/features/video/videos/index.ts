/**
 * Videos: files that come from an upload, an import or a broadcast, and everything derived from them.
 *
 * Terminology: the *original* is the file as received; a *rendition* is one rung that players choose from; a
 * *revision* is one processing with files of its own.
 */
export type {
  videoDeleted,
  videoProcessingCompleted,
  videoProcessingFailed,
  videoReplaced,
  videoReplacementFailed,
} from './events.ts';
export type { VideoIntake } from './intake/service.ts';
export type { GrowingReservation } from './intake/storage-reservation.service.ts';
export type { countLiveSlots } from './processing/nodes.ts';
export type { topHeight } from './processing/rules.ts';
export type { canBePlayed } from './renditions.schemas.ts';
export type { countPublicVideos, hasVideo, VideoDetails } from './repository.ts';
export type { toLinked } from './schemas.ts';
export type { UploadOpener, UploadSessions, Videos } from './service.ts';
