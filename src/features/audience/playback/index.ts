/**
 * Playback: access control, and everything that viewers load of streams and videos: playlists, files, watch
 * and embed pages, oEmbed, and the signed URLs of restricted media.
 *
 * Terminology: a *snapshot* is the viewer-facing data of a stream or a video; a *grant* is the access that a
 * token gives its holder.
 */
export type { Access, AccessRequest, Entitlements, ProtectedMedia, Viewer } from './access.service.ts';
export type { LinkedVideo, StreamLinks, VideoLinks } from './links.ts';
export type { AdmitLive, createLiveAdmission, LiveAdmission } from './live/admission.ts';
export type { StreamSnapshot } from './live/snapshot.ts';
export type { LiveChat } from './live/watch.pages.ts';
export type { RenderFollowBox } from './media.views.ts';
export type { Offer, PurchasableMedia, purchasableAt, Sellers } from './paywall.ts';
export type { tokenFingerprint } from './playback-sessions.ts';
export type { VideoSnapshot } from './videos/snapshot.ts';
