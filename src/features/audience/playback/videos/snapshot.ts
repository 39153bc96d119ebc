import type { Mode } from '../../../../kernel/access.ts';
import type { Visibility } from '../../../../kernel/visibility.ts';
import type { ChapterMark, PlayableVideo } from '../../../../media/contract/index.ts';

/**
 * What playback and the watch page need to know of a video. Its rungs are highest first, and none before the first
 * can be played.
 */
export interface VideoSnapshot extends PlayableVideo {
  id: string;
  workspaceId: string;
  accountId: string;
  title: string;
  description: string | null;
  visibility: Visibility;
  /** Of TIER: whose members may watch; those of any tier where none is named. */
  tierIds: readonly string[];
  /** Of PURCHASE. */
  priceCents: number | null;
  /** Nothing can be made of its file. */
  hasFailed: boolean;
  /** Of the file as it came, in the store; null before it has. */
  originalKey: string | null;
  durationSec: number | null;
  /** Of the original, as shown. */
  width: number | null;
  height: number | null;
  chapters: readonly ChapterMark[];
  /** The folder of the pictures; null before they are made. */
  imageFolder: string | null;
  /** Files that it has replaced, for those who are in the middle of them: in no playlist, but still there. */
  former: {
    /** Of renditions and sounds. */
    paths: readonly string[];
    imageFolders: readonly string[];
    captions: readonly string[];
  };
  hasStoryboard: boolean;
  thumbnailFile: string | null;
  viewCount: number;
  publishedAt: Date | null;
  createdAt: Date;
  mode: Mode;
  creator: { username: string; name: string | null };
  /** Host patterns of the sites that may play it; null: any. */
  embedHosts: readonly string[] | null;
}

export const VIDEO_ID = /^vid_[0-9a-z]{26}$/;
