/**
 * Playback: access control, and everything that viewers load of streams and videos: playlists, files, watch
 * and embed pages, oEmbed, and the signed URLs of restricted media.
 *
 * Terminology: a *snapshot* is the viewer-facing data of a stream or a video; a *grant* is the access that a
 * token gives its holder.
 */
export type { Access, AccessRequest, Entitlements, ProtectedMedia, Viewer } from './access.service.ts';
export { anyEntitlement, createAccess } from './access.service.ts';
export { beaconPage } from './beacon.pages.ts';
export { createBeacons } from './beacon.service.ts';
export type { OnBytesSent } from './egress.ts';
export { createImpressions, type Impressions } from './impressions.ts';
export type { LinkedVideo, StreamLinks, VideoLinks } from './links.ts';
export { createStreamLinks, createVideoLinks } from './links.ts';
export { type AdmitLive, createLiveAdmission, type LiveAdmission } from './live/admission.ts';
export { liveFilePages } from './live/files.pages.ts';
export type { StreamSnapshot } from './live/snapshot.ts';
export { SESSION_ID, STREAM_ID } from './live/snapshot.ts';
export type { LiveChat } from './live/watch.pages.ts';
export { embeddableStream, liveWatchPages } from './live/watch.pages.ts';
export { createWatching } from './live/watchers.ts';
export type { RenderFollowBox } from './media.views.ts';
export { oembedPage } from './oembed.pages.ts';
export { type Offer, type PurchasableMedia, purchasableAt, type Seller, type Sellers } from './paywall.ts';
export type { PlaybackSessions } from './playback-sessions.ts';
export { createPlaybackSessions, tokenFingerprint } from './playback-sessions.ts';
export { downloadRoutes, playbackTokenRoutes } from './routes.ts';
export type { SnapshotSource, Snapshots } from './snapshots.ts';
export { createSnapshots } from './snapshots.ts';
export type { PlaybackTokens } from './tokens.ts';
export { createPlaybackTokens } from './tokens.ts';
export { createAdmissions } from './videos/admission.service.ts';
export { downloadPages } from './videos/download.pages.ts';
export { createDownloads, type Downloads } from './videos/download.service.ts';
export { videoFilePages } from './videos/files.pages.ts';
export type { VideoSnapshot } from './videos/snapshot.ts';
export { VIDEO_ID } from './videos/snapshot.ts';
export { embeddableVideo, videoWatchPages } from './videos/watch.pages.ts';
