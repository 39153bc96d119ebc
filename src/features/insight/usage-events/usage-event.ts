import type { PlayerEvent } from '../../../platform/db/json-columns.ts';
import type { UsageEventKind } from '../../../platform/db/tables.generated.ts';

/** Anonymous viewer: all stored data about a viewer. */
export interface Viewer {
  /** Viewer fingerprint as hex, with the salt of the UTC day: it changes daily. */
  hash: string;
  /** ISO 3166-1 country; ZZ if unknown. */
  country: string;
  device: string | null;
  browser: string | null;
  os: string | null;
  /** Referring host; null for direct visits. */
  referrer: string | null;
  /** Whether the viewer is a bot; stored, but never counted. */
  isBot: boolean;
  /** Whether the session belongs to the owner of the content; counted separately. */
  isSelf: boolean;
}

/** Something that happened or was used, `docs/decisions/analytics.md#usage-events`. */
export interface UsageEvent {
  kind: UsageEventKind;
  workspaceId: string;
  /** Time on the server's clock. Default: now. */
  at?: Date;
  /** Video or stream; absent for events of the whole workspace. */
  subjectId?: string | null;
  /** Amount in the unit of the kind: a count, bytes or milliseconds. Default 1. */
  amount?: number;
  viewer?: Viewer | null;
  /**
   * Playback session of the page for BEACON; `number` is the message number and `playerEvents` its content.
   */
  playbackSession?: string;
  number?: number;
  playerEvents?: PlayerEvent[];
  /** Mean bitrate of the interval, for LIVE. */
  bitrateKbps?: number | null;
  /** API key for REQUEST (null: a dashboard session); `status` is that of the response. */
  keyId?: string | null;
  status?: number;
}

/** Row to insert: its ID and time are fixed before the first attempt, so that retries insert it once. */
export interface UsageEventRow extends UsageEvent {
  id: string;
  at: Date;
}
