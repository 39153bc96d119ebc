import type { Mode } from '../../../../kernel/access.ts';
import type { Visibility } from '../../../../kernel/visibility.ts';
import type { VideoInfo } from '../../../../media/contract/index.ts';

/** Data of a stream for playback and the watch page. */
export interface StreamSnapshot {
  id: string;
  workspaceId: string;
  accountId: string;
  title: string;
  description: string | null;
  visibility: Visibility;
  /** Tiers whose members may watch, for TIER media; an empty list means any tier. */
  tierIds: readonly string[];
  mode: Mode;
  isLive: boolean;
  hasSignal: boolean;
  /** Length of the DVR window; 0 without one. */
  dvrWindowSec: number;
  /** Session of the last signal; null before the first one. */
  currentSessionId: string | null;
  /** Start of the live broadcast. */
  liveSince: Date | null;
  /** Last ended broadcast of the last signal; null when there is none. */
  ended: { since: Date; until: Date } | null;
  scheduledStartAt: Date | null;
  /** Number of viewers, accurate to some seconds. */
  viewerCount: number;
  creator: { username: string; name: string | null };
  /** Host patterns of the sites that may embed the player; null allows any. */
  embedHosts: readonly string[] | null;
  video: VideoInfo | null;
  /** Health issues of the signal, or of the last one when it was rejected. */
  issues: readonly string[];
}
