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

/** Called in the transaction that makes the first rung of a video playable. */
export type PlayableHook = (tx: Tx, append: AppendEvent, video: VideoRow) => Promise<void>;

export interface ProcessingDeps {
  db: Db;
  events: Events;
  facts: Pick<UsageEvents, 'append'>;
  queue: JobQueue;
  store: BlobStore;
  /** Encodes wait while it has none. */
  disk: Pick<DiskSpace, 'isThere'>;
  transcoder: Transcoder;
  bus: Pick<Bus, 'publish'>;
  clock: Clock;
  log: Logger;
  links: VideoLinks;
  /** Runs write here, each in a folder of its own, before their files go to the store. On the store's disk. */
  scratchDir: string;
  /**
   * Longer sources are cut into chunks where several transcode slots are alive
   * (docs/decisions/transcoding.md#long-sources-in-chunks).
   */
  chunkMinSec: number;
  /** Look at what the pictures of a video need before the bulk of its encoding. */
  isPerTitle: boolean;
  /** Codecs beside H.264 that are wanted and that this machine can make. */
  furtherCodecs(): Promise<readonly VideoCodec[]>;
  /** Hardware encodes here: long sources are not cut, because what is joined has to come from one encoder. */
  encodesWhole(): Promise<boolean>;
  /** Throws while this machine has no usable ffmpeg: the jobs wait. */
  checkTools(): Promise<unknown>;
  onPlayable: readonly PlayableHook[];
}

/** What the steps work with. */
export interface ProcessingContext extends ProcessingDeps {
  originals: Originals;
}
