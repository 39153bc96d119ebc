import type { ColumnType, Generated } from 'kysely';
import type { Visibility } from '../../../kernel/visibility.ts';

/** A column that is null until it is set. */
type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;

export type ImportStatus = 'PENDING' | 'DOWNLOADING' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'CANCELED';
export type ImportProvider = 'URL' | 'S3' | 'YOUTUBE' | 'VIMEO' | 'TWITCH' | 'PEERTUBE';

export interface ImportTable {
  id: string;
  workspace_id: string;
  video_id: Later<string>;
  source_url: string;
  provider: ImportProvider;
  status: ImportStatus;
  title: string;
  visibility: Visibility;
  metadata: Generated<Record<string, string>>;
  bytes_total: Later<number>;
  bytes_received: Generated<number>;
  validator: Later<string>;
  storage_state: Later<Record<string, unknown>>;
  error_code: Later<string>;
  error_message: Later<string>;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
  completed_at: Later<Date>;
}
