import type { ColumnType, Generated } from 'kysely';
import type { Visibility } from '../../../kernel/visibility.ts';

/** A column that is null until it is set. */
type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface StreamTable {
  id: string;
  workspace_id: string;
  title: string;
  description: Later<string>;
  visibility: Visibility;
  key_hash: Uint8Array;
  key_encrypted: Uint8Array;
  enabled: Generated<boolean>;
  has_signal: Generated<boolean>;
  is_live: Generated<boolean>;
  latency_mode: Generated<'STANDARD' | 'LOW'>;
  record: Generated<boolean>;
  record_visibility: Generated<Visibility>;
  reconnect_window_sec: Generated<number>;
  auto_start: Generated<boolean>;
  auto_stop_after_sec: Later<number>;
  max_duration_sec: Generated<number>;
  chat_enabled: Generated<boolean>;
  chat_mode: Generated<'OPEN' | 'FOLLOWERS' | 'TIER' | 'OFF'>;
  slow_mode_sec: Generated<number>;
  scheduled_start_at: Later<Date>;
  metadata: Generated<Record<string, string>>;
  external_id: Later<string>;
  current_session_id: Later<string>;
  live_since: Later<Date>;
  started_at: Later<Date>;
  ended_at: Later<Date>;
  last_signal_at: Later<Date>;
  signal_lost_at: Later<Date>;
  health: Later<StreamHealth>;
  viewer_count: Generated<number>;
  peak_viewers: Generated<number>;
  broadcast_started_said_at: Later<Date>;
  broadcast_stopped_said_at: Later<Date>;
  broadcast_said_live: Generated<boolean>;
  broadcast_due_at: Later<Date>;
  event_sequence: Generated<number>;
  health_said_issues: Generated<string[]>;
  health_said_at: Later<Date>;
  schedule_said_for: Later<Date>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  deleted_at: Later<Date>;
}

/** What the media plane last measured of the signal (`api.md` C3.2). */
export interface StreamHealth {
  bitrateKbps: number;
  fps: number;
  width: number;
  height: number;
  codec: string;
  issues: string[];
}

export interface StreamSessionTable {
  id: string;
  stream_id: string;
  workspace_id: string;
  signal_started_at: Date;
  signal_ended_at: Later<Date>;
  broadcast_started_at: Later<Date>;
  broadcast_ended_at: Later<Date>;
  peak_viewers: Generated<number>;
  unique_viewers: Generated<number>;
  error: Later<string>;
}

export interface IngestSessionTable {
  id: string;
  stream_id: string;
  node_id: string;
  protocol: string;
  started_at: Date;
  last_seen_at: Date;
  video: Later<IngestVideo>;
  audio: Later<IngestAudio>;
  lost_at: Later<Date>;
  grace_until: Later<Date>;
  kick_reason: Later<string>;
  ended_at: Later<Date>;
  end_reason: Later<string>;
}

export interface IngestVideo {
  codec: string;
  width: number;
  height: number;
  fps: number;
}

export interface IngestAudio {
  codec: string;
  sampleRate: number;
  channels: number;
}

/** What one api process counts of a stream's viewers. */
export interface ViewerCountTable {
  stream_id: string;
  node_id: string;
  current: number;
  updated_at: Date;
}
