import type { Mode } from '../../../../kernel/access.ts';
import type { Visibility } from '../../../../kernel/visibility.ts';
import type { VideoInfo } from '../../../../media/contract/index.ts';

/** What playback and the watch page need to know of a stream. */
export interface StreamSnapshot {
  id: string;
  workspaceId: string;
  accountId: string;
  title: string;
  description: string | null;
  visibility: Visibility;
  /** Of TIER: whose members may watch; those of any tier where none is named. */
  tierIds: readonly string[];
  mode: Mode;
  isLive: boolean;
  hasSignal: boolean;
  /** So far back viewers can go; 0 where they cannot. */
  dvrWindowSec: number;
  /** Of the last signal; null before the first one. */
  currentSessionId: string | null;
  /** Since when the broadcast is on. */
  liveSince: Date | null;
  /** The broadcast that has ended last, on the last signal; null where there is none. */
  ended: { since: Date; until: Date } | null;
  scheduledStartAt: Date | null;
  /** How many watch, to within some seconds. */
  viewerCount: number;
  creator: { username: string; name: string | null };
  /** Host patterns of the sites that may show the embed player; null: any. */
  embedHosts: readonly string[] | null;
  video: VideoInfo | null;
  /** What is wrong with the signal, or with the last one when it was refused: words of its health. */
  issues: readonly string[];
}

export const SESSION_ID = /^ses_[0-9a-z]{26}$/;
export const STREAM_ID = /^str_[0-9a-z]{26}$/;
