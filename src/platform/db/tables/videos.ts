import type { ColumnType, Generated } from 'kysely';
import type { Visibility } from '../../../kernel/visibility.ts';

/** A column that is null until it is set. */
type Later<T> = ColumnType<T | null, T | null | undefined, T | null>;

export type VideoStatus = 'UPLOADING' | 'QUEUED' | 'PROCESSING' | 'READY' | 'FAILED';
export type VideoSource = 'UPLOAD' | 'IMPORT' | 'RECORDING' | 'CLIP';

export interface Chapter {
  startSec: number;
  title: string;
}

export interface VideoTable {
  id: string;
  workspace_id: string;
  title: string;
  description: Later<string>;
  status: VideoStatus;
  visibility: Visibility;
  tier_ids: Generated<string[]>;
  price_cents: Later<number>;
  currency: Generated<string>;
  tags: Generated<string[]>;
  metadata: Generated<Record<string, string>>;
  external_id: Later<string>;
  source: VideoSource;
  upload_id: Later<string>;
  import_id: Later<string>;
  stream_id: Later<string>;
  session_id: Later<string>;
  original_key: Later<string>;
  size_bytes: Later<number>;
  duration_sec: Later<number>;
  width: Later<number>;
  height: Later<number>;
  frame_rate: Later<number>;
  storage_bytes: Generated<number>;
  progress_percent: Generated<number>;
  error_code: Later<string>;
  error_message: Later<string>;
  revision: Generated<number>;
  attempt: Generated<number>;
  image_folder: Later<string>;
  has_storyboard: Generated<boolean>;
  has_preview: Generated<boolean>;
  thumbnail_file: Later<string>;
  /** JSON text when written: a list would become an array of PostgreSQL. */
  chapters: ColumnType<Chapter[], string | undefined, string>;
  view_count: Generated<number>;
  published_at: Later<Date>;
  publish_at: Later<Date>;
  event_sequence: Generated<number>;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  deleted_at: Later<Date>;
  purged_at: Later<Date>;
}

export interface VideoRenditionTable {
  video_id: string;
  revision: number;
  name: string;
  kind: 'VIDEO' | 'AUDIO';
  status: 'PENDING' | 'PROCESSING' | 'READY';
  folder: Later<string>;
  width: Later<number>;
  height: Later<number>;
  frame_rate: Later<number>;
  codecs: Later<string>;
  average_bitrate: Later<number>;
  peak_bitrate: Later<number>;
  size_bytes: Later<number>;
  progress_percent: Generated<number>;
}

export interface VideoCaptionTable {
  id: string;
  video_id: string;
  language: string;
  label: string;
  is_auto: Generated<boolean>;
  file: string;
  created_at: Generated<Date>;
}

export interface VideoViewTable {
  video_id: string;
  viewer: Uint8Array;
  counted_at: Date;
}

export type UploadStatus = 'WAITING' | 'UPLOADING' | 'COMPLETED' | 'CANCELED' | 'EXPIRED' | 'FAILED';

export interface UploadTable {
  id: string;
  workspace_id: string;
  video_id: string;
  status: UploadStatus;
  protocol: Generated<'TUS' | 'PUT'>;
  token_hash: Uint8Array;
  token_encrypted: Uint8Array;
  cors_origin: Later<string>;
  filename: string;
  mime_type: string;
  size_bytes: Later<number>;
  received_bytes: Generated<number>;
  sha256: Later<string>;
  storage_state: Generated<object>;
  error_code: Later<string>;
  error_message: Later<string>;
  expires_at: Date;
  created_at: Generated<Date>;
  ended_at: Later<Date>;
  /** The request that writes, and when bytes of it came last. */
  writer: Later<string>;
  writer_seen_at: Later<Date>;
  /** Bytes are in the store that belong to no video. */
  has_bytes: Generated<boolean>;
}
