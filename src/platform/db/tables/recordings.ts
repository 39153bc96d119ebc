import type { ColumnType, Generated } from 'kysely';

/** A column that is null until it is set. */
type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface RecordingTable {
  session_id: string;
  workspace_id: string;
  stream_id: string;
  video_id: Later<string>;
  settled_at: Later<Date>;
  ready_said_at: Later<Date>;
  created_at: Date;
}

export interface RecordingPartTable {
  id: string;
  session_id: string;
  node_id: string;
  started_at: Date;
  seen_at: Date;
  has_media: Generated<boolean>;
  closed_at: Later<Date>;
  size_bytes: Later<number>;
}
