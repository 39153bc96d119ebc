/**
 * Serves playlists and segments, live and of videos, to any HTTP framework. Every function answers `{ status, headers, body }`
 * and trusts its caller to have checked that the viewer may see it.
 */
import { createPlaylistReader, type PlaylistReader } from './playlists.ts';
import { createSegmentReader, type SegmentReader, type SegmentReaderOptions } from './segments.ts';

export type { MasterRequest, MediaPlaylistRequest } from './playlists.ts';
export { notFound, type PlaybackReply, type PlaybackRequest } from './reply.ts';
export type { SegmentRequest } from './segments.ts';
export { createVodPlayback, type VodPlayback } from './vod.ts';

export type Playback = Omit<PlaylistReader, 'listedSince'> & SegmentReader;

export function createPlayback(options: SegmentReaderOptions): Playback {
  const { listedSince, ...playlists } = createPlaylistReader(options.liveDir);
  return { ...playlists, ...createSegmentReader(options, listedSince) };
}
