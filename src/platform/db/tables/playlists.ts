import type { ColumnType, Generated } from 'kysely';

/** A column that is null until it is set. */
type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;

export interface PlaylistTable {
  id: string;
  workspace_id: string;
  title: string;
  description: Later<string>;
  visibility: 'PUBLIC' | 'UNLISTED' | 'PRIVATE';
  thumbnail_video_id: Later<string>;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
}

export interface PlaylistItemTable {
  id: string;
  playlist_id: string;
  video_id: string;
  position: number;
  note: Later<string>;
  start_sec: Later<number>;
  stop_sec: Later<number>;
  added_at: Generated<Date>;
}
