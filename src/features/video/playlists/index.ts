/**
 * Playlists: videos of one workspace in an order (docs/concepts/playlists.md).
 *
 * Terminology: an *item* is one place in a playlist; the same video may have several. An item whose video was
 * deleted stays, and is not *available*.
 */
export { playlistEvents } from './events.ts';
export { listPublicPlaylists, type PlaylistDetails } from './repository.ts';
export { playlistRoutes } from './routes.ts';
export type { PlaylistVideo } from './schemas.ts';
export { createPlaylists, type Playlists } from './service.ts';
