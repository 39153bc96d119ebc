import type { Mode } from '../../../../kernel/access.ts';
import type { Visibility } from '../../../../kernel/visibility.ts';
import type { ChapterMark, PlayableVideo } from '../../../../media/contract/index.ts';

/**
 * Data of a video for playback and the watch page. Its rungs are highest first; it has none before the first
 * is playable.
 */
export interface VideoSnapshot extends PlayableVideo {
  id: string;
  workspaceId: string;
  accountId: string;
  title: string;
  description: string | null;
  visibility: Visibility;
  /** Tiers whose members may watch, for TIER media; an empty list means any tier. */
  tierIds: readonly string[];
  /** Price of PURCHASE media. */
  priceCents: number | null;
  /** True when the file cannot be processed. */
  hasFailed: boolean;
  /** Key of the original in the store; null before it was received. */
  originalKey: string | null;
  durationSec: number | null;
  /** Displayed size of the original. */
  width: number | null;
  height: number | null;
  chapters: readonly ChapterMark[];
  /** Folder of the images; null before they exist. */
  imageFolder: string | null;
  /** Replaced files for clients that are still using them: in no playlist, but not deleted yet. */
  former: {
    /** Folders of renditions and audio tracks. */
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
  /** Host patterns of the sites that may play it; null allows any. */
  embedHosts: readonly string[] | null;
}
