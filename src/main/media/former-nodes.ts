import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { STREAM_DELETED_TOPIC } from '../../features/live/streams/module.ts';
import type { ScheduledTask } from '../../jobs/schedule.ts';
import { HOUR_MS } from '../../kernel/durations.ts';
import type { FfmpegProgram } from '../../media/ffmpeg/program.ts';
import { emptyIdleFolders } from '../../media/live/clean-folders.ts';
import { createRecordingManager, type RecordingManager } from '../../media/recording/recording-manager.ts';
import type { Container } from '../container.ts';
import { listNodeFolders, type MediaProcessPosition, nodeFolderOf } from './node.ts';
import { findNodeId } from './node-id.ts';

const SYNC_MS = 1000;
/** Time without a signal after which the segments of a stream are deleted. */
const IDLE_MS = HOUR_MS;

interface FormerNodes {
  tasks: ScheduledTask[];
  stop(): Promise<void>;
}

/**
 * Takes care of the data of media processes that no longer exist, because MEDIA_PROCESSES was lowered: stores
 * their recordings, and deletes their segments when they are no longer played. The first process does so.
 */
export async function recoverFormerNodes(
  container: Container,
  { index: ownIndex, count }: MediaProcessPosition,
  ffmpeg: FfmpegProgram,
): Promise<FormerNodes> {
  const { config, signals, clock, log, bus } = container;
  if (ownIndex !== 0) return { tasks: [], stop: async () => {} };
  const recorders: RecordingManager[] = [];
  const liveDirs: string[] = [];
  for (const index of await listNodeFolders(config.DATA_DIR)) {
    const folder = nodeFolderOf(config.DATA_DIR, index);
    const nodeId = index < count ? null : await findNodeId(folder);
    if (nodeId === null) continue;
    await signals.nodeStarted(nodeId);
    liveDirs.push(join(folder, 'live'));
    const recorder = await recoverRecordings(container, { nodeId, dir: join(folder, 'rec') }, ffmpeg);
    if (recorder !== null) recorders.push(recorder);
  }
  bus.subscribe(STREAM_DELETED_TOPIC, (streamId) => {
    for (const dir of liveDirs) {
      rm(join(dir, streamId), { recursive: true, force: true }).catch((error: unknown) => {
        log.warn({ err: error, streamId }, 'the files of a deleted stream could not be removed');
      });
    }
  });
  const emptyFolders = async () => {
    for (const liveDir of liveDirs) await emptyIdleFolders({ liveDir, log }, clock.ms() - IDLE_MS);
  };
  return {
    tasks: [
      ...recorders.map((one) => ({
        name: 'recordings of a former media process',
        everyMs: SYNC_MS,
        run: () => one.sync(),
      })),
      { name: 'folders of former media processes', everyMs: HOUR_MS, run: emptyFolders },
    ],
    async stop() {
      await Promise.all(recorders.map((recorder) => recorder.stop()));
    },
  };
}

/** @returns the manager that renews the leases of the parts while they are stored; null when there are none. */
async function recoverRecordings(
  { recordings: { port }, store, disk, log, clock }: Container,
  { nodeId, dir }: { nodeId: string; dir: string },
  ffmpeg: FfmpegProgram,
): Promise<RecordingManager | null> {
  const files = await readdir(dir).catch(() => []);
  if (files.length === 0 && (await port.openParts(nodeId)).length === 0) return null;
  const engine = { list: () => [], feed: () => {} };
  const recorder = createRecordingManager({ engine, port, store, disk, dir, nodeId, ffmpeg, log, clock });
  await recorder.recover();
  return recorder;
}
