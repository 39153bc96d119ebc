/**
 * Serves playlists and segments, live and of videos, to any HTTP framework: the playback port of the contract.
 * Every function trusts its caller to have checked that the viewer may see it.
 */
import type { LiveFiles } from '../contract/index.ts';
import { createHistoryJoiner } from './history.ts';
import { createPlaylistReader } from './playlists.ts';
import { notFound } from './reply.ts';
import { createSegmentReader, type SegmentReaderOptions } from './segments.ts';
import { createThumbnailReader } from './thumbnails.ts';

export { createVideoFiles } from './vod.ts';

export function createLiveFiles(options: SegmentReaderOptions): LiveFiles {
  const { isListed, findPart, ...playlists } = createPlaylistReader(
    options.source,
    options.kept && createHistoryJoiner(options.kept.history),
  );
  return {
    ...playlists,
    ...createSegmentReader(options, { isListed, findPart }),
    ...createThumbnailReader(options.source),
    notFound,
  };
}
