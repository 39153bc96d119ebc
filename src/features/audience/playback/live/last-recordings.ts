import type { Snapshots } from '../../../../kernel/snapshots.ts';
import type { Access, Viewer } from '../access.service.ts';
import type { VideoSnapshot } from '../videos/snapshot.ts';
import type { StreamSnapshot } from './snapshot.ts';

interface Deps {
  /** Video IDs of broadcasts by session ID. */
  recordings: Snapshots<readonly string[]>;
  videos: Snapshots<VideoSnapshot>;
  access: Access;
}

/** Video of a broadcast. */
export interface RecordedVideo {
  id: string;
  /** Number of the part, from 1. */
  part: number;
  of: number;
}

/**
 * Returns the recordings of the last broadcast in order, each once it is playable, for a viewer who may see
 * both the stream and the recording. A PUBLIC stream does not reveal an UNLISTED recording.
 */
export async function lastRecordings(
  { recordings, videos, access }: Deps,
  { isLive, ended, currentSessionId, visibility }: StreamSnapshot,
  viewer: Viewer,
): Promise<RecordedVideo[]> {
  if (isLive || ended === null || currentSessionId === null) return [];
  const ids = (await recordings.get(currentSessionId)) ?? [];
  const isShown = async (id: string) => {
    const video = await videos.get(id);
    if (video === undefined || video.rungs.length === 0) return false;
    if (video.visibility === 'UNLISTED' && visibility === 'PUBLIC') return false;
    // The token is for the stream.
    return (await access.passFor(video, { ...viewer, token: undefined })) !== null;
  };
  const shown = await Promise.all(ids.map(isShown));
  const all = ids.map((id, index) => ({ id, part: index + 1, of: ids.length }));
  return all.filter((_, index) => shown[index]);
}
