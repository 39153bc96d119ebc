import type { Access, Viewer } from '../access.service.ts';
import type { Snapshots } from '../snapshots.ts';
import type { VideoSnapshot } from '../videos/snapshot.ts';
import type { StreamSnapshot } from './snapshot.ts';

interface Deps {
  /** The ids of the videos of broadcasts, by the id of the session. */
  recordings: Snapshots<string>;
  videos: Snapshots<VideoSnapshot>;
  access: Access;
}

/**
 * The recording of the last broadcast, once it plays, for a viewer who may see the stream: where it is open to the
 * viewer as well. One that only those who have its address may see is not told of by a stream that everybody finds.
 *
 * @returns null when there is none.
 */
export async function lastRecording(
  { recordings, videos, access }: Deps,
  { isLive, ended, currentSessionId, visibility }: StreamSnapshot,
  viewer: Viewer,
): Promise<VideoSnapshot | null> {
  if (isLive || ended === null || currentSessionId === null) return null;
  const id = await recordings.get(currentSessionId);
  const video = id === undefined ? undefined : await videos.get(id);
  if (video === undefined || video.rungs.length === 0) return null;
  if (video.visibility === 'UNLISTED' && visibility === 'PUBLIC') return null;
  // The token is for the stream.
  const pass = await access.passFor(video, { ...viewer, token: undefined });
  return pass === null ? null : video;
}
