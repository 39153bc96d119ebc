import type { AppendEvent, Events } from '../../../../events/index.ts';
import type { JobQueue } from '../../../../jobs/job.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import type { VideoCodec } from '../../../../kernel/video-codecs.ts';
import type { BlobStore, Transcoder } from '../../../../media/contract/index.ts';
import type { Bus } from '../../../../platform/bus.ts';
import type { Db, Tx } from '../../../../platform/db/index.ts';
import type { DiskSpace } from '../../../../platform/disk.ts';
import type { Logger } from '../../../../platform/logger.ts';
import type { VideoLinks } from '../../../audience/playback/index.ts';
import type { UsageEvents } from '../../../insight/usage-events/index.ts';
import type { VideoRow } from '../repository.ts';
import type { Originals } from './originals.ts';

/** Hook called in the transaction in which the first rung of a video becomes playable. */
export type PlayableHook = (tx: Tx, append: AppendEvent, video: VideoRow) => Promise<void>;

export interface ProcessingDeps {
  db: Db;
  events: Events;
  facts: Pick<UsageEvents, 'append'>;
  queue: JobQueue;
  store: BlobStore;
  /** Encodes wait while the disk is full. */
  disk: Pick<DiskSpace, 'isThere'>;
  transcoder: Transcoder;
  bus: Pick<Bus, 'publish'>;
  clock: Clock;
  log: Logger;
  links: VideoLinks;
  /**
   * Parent of the scratch folders in which runs write before their files go to the store. On the store's
   * disk.
   */
  scratchDir: string;
  /**
   * Longer sources are cut into chunks where several transcode slots are alive
   * (docs/decisions/transcoding.md#long-sources-in-chunks).
   */
  chunkMinSec: number;
  /** Analyze the content of a video before the bulk of its encoding. */
  isPerTitle: boolean;
  /** Returns the enabled codecs besides H.264 that this machine can encode. */
  furtherCodecs(): Promise<readonly VideoCodec[]>;
  /**
   * Reports whether hardware encodes here: long sources are then not split, because joined chunks must come
   * from one encoder.
   */
  encodesWhole(): Promise<boolean>;
  /** Throws while this machine has no usable ffmpeg: the jobs wait. */
  checkTools(): Promise<unknown>;
  onPlayable: readonly PlayableHook[];
}

/** Dependencies of the processing steps. */
export interface ProcessingContext extends ProcessingDeps {
  originals: Originals;
}
