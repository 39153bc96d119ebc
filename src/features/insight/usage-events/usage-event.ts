import type { PlayerEvent } from '../../../platform/db/json-columns.ts';
import type { UsageEventKind } from '../../../platform/db/tables.generated.ts';

/** Whoever watches, without a name: all that is kept of them. */
export interface Viewer {
  /** Hex. With the salt of the UTC day: the same person is another one tomorrow. */
  hash: string;
  /** ISO 3166-1, ZZ where nobody knows. */
  country: string;
  device: string | null;
  browser: string | null;
  os: string | null;
  /** A host; null for what came directly. */
  referrer: string | null;
  /** Kept, and never summed. */
  isBot: boolean;
  /** Of a session of the account that owns the content: summed apart. */
  isSelf: boolean;
}

/** Something that happened or was used, `docs/decisions/analytics.md#usage-events`. */
export interface UsageEvent {
  kind: UsageEventKind;
  workspaceId: string;
  /** When it happened, on the server's clock. Default: now. */
  at?: Date;
  /** The video or stream; left out for what concerns the workspace alone. */
  subjectId?: string | null;
  /** In the unit of its kind: pieces, people, bytes or milliseconds. Default 1. */
  amount?: number;
  viewer?: Viewer | null;
  /** Of BEACON: the session that the page was given, the number of the message, and what the player told. */
  playbackSession?: string;
  number?: number;
  playerEvents?: PlayerEvent[];
  /** Of LIVE: the mean bitrate in this time. */
  bitrateKbps?: number | null;
  /** Of REQUEST: by which key (null: a session of the dashboard), and with which answer. */
  keyId?: string | null;
  status?: number;
}

/** A row to be: it has its name and its time before it is tried, so that a repeated write is one. */
export interface UsageEventRow extends UsageEvent {
  id: string;
  at: Date;
}
