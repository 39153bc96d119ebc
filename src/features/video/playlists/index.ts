/**
 * Playlists: videos of one workspace in an order (docs/concepts/playlists.md).
 *
 * Terminology: an *item* is one place in a playlist; the same video may have several. An item whose video was
 * deleted stays, and is not *available*.
 */
export type { listPublicPlaylists, PlaylistDetails } from './repository.ts';
export type { PlaylistVideos } from './service.ts';
