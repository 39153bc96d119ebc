import type { Generated } from 'kysely';

/** How a source is encoded: in one piece, or cut into chunks that many nodes encode at once. */
export type ProcessingMode = 'WHOLE' | 'SPLIT' | 'CHUNKS';

export interface VideoProcessingTable {
  video_id: string;
  revision: number;
  /** JSON of the media contract's `SourceInfo`. */
  source: string;
  /** JSON of its `LadderPlan`. */
  ladder: string;
  mode: ProcessingMode;
  align_to_source: boolean;
  images_done: Generated<boolean>;
  revivals: Generated<number>;
  touched_at: Date;
}

export interface VideoChunkTable {
  video_id: string;
  revision: number;
  number: number;
  start_sec: number;
  duration_sec: number;
  source_key: string;
  folder: string | null;
  progress_percent: Generated<number>;
}

export interface VideoFolderTable {
  video_id: string;
  revision: number;
  number: number;
}

export interface TranscodeNodeTable {
  id: string;
  slots: number;
  seen_at: Date;
}
