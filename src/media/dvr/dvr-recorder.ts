import { constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../platform/logger.ts';
import type { BlobStore, DvrBroadcast, DvrPort, HistorySegment } from '../contract/index.ts';
import type { FinishedSegments } from '../live/composer.ts';
import type { LiveSlot } from '../live/state.ts';

export interface HistoryKeeperOptions {
  live: { finished(streamId: string): FinishedSegments | null };
  port: DvrPort;
  store: Pick<BlobStore, 'put' | 'delete'>;
  nodeId: string;
  log: Logger;
}

/** Puts the finished segments of broadcasts that keep their history into the store (docs/decisions/dvr.md). */
export interface DvrRecorder {
  /** Starts the pending work without waiting for it. Rejects when the desired state cannot be read. */
  sync(): Promise<void>;
  /** Resolves when nothing is under way. */
  stop(): Promise<void>;
}

const SEGMENT_TYPE = 'video/iso.segment';
const INIT_TYPE = 'video/mp4';
const INIT = 'init.mp4';
const HERE = constants.O_RDONLY | constants.O_NOFOLLOW;

interface Lane {
  /** Start of the last processed segment. */
  doneMs: number;
  /** `<epoch>/<rung>` of the init segments that are in the store. */
  inits: Set<string>;
  running: Promise<void> | null;
}

export function createHistoryKeeper(options: HistoryKeeperOptions): DvrRecorder {
  const { live, port, nodeId, log } = options;
  const lanes = new Map<string, Lane>();
  let isStopped = false;

  /** Stores segments in order. Failures are retried as long as the files exist. */
  const run = async (broadcast: DvrBroadcast, lane: Lane, { dir, slots }: FinishedSegments) => {
    for (const slot of slots) {
      const { startMs } = slot;
      if (isStopped || startMs <= lane.doneMs) continue;
      if (startMs + durationOf(slot) * 1000 > broadcast.sinceMs)
        await keep(options, broadcast, lane, dir, slot);
      lane.doneMs = startMs;
    }
  };
  return {
    async sync() {
      if (isStopped) return;
      const wanted = await port.wanted(nodeId);
      const ids = new Set(wanted.map(({ streamId }) => streamId));
      for (const [id, lane] of lanes) if (!ids.has(id) && lane.running === null) lanes.delete(id);
      for (const broadcast of wanted) {
        const { streamId, keptUntilMs } = broadcast;
        const lane = lanes.get(streamId) ?? { doneMs: 0, inits: new Set(), running: null };
        lanes.set(streamId, lane);
        lane.doneMs = Math.max(lane.doneMs, keptUntilMs ?? 0);
        const finished = live.finished(streamId);
        if (lane.running !== null || finished === null) continue;
        lane.running = run(broadcast, lane, finished)
          .catch((error: unknown) => log.warn({ err: error, streamId }, 'a live segment could not be stored'))
          .finally(() => {
            lane.running = null;
          });
      }
    },
    async stop() {
      isStopped = true;
      await Promise.all([...lanes.values()].map(({ running }) => running));
    },
  };
}

async function keep(
  { store, port }: HistoryKeeperOptions,
  { streamId, folder }: DvrBroadcast,
  { inits }: Lane,
  dir: string,
  slot: LiveSlot,
): Promise<void> {
  const rungs: HistorySegment['rungs'] = {};
  const put = async (rung: string, file: string, type: string) => {
    const name = `${slot.epoch}/${rung}/${file}`;
    const bytes = await readFile(join(dir, name), { flag: HERE }).catch(absent);
    if (bytes !== null) await store.put(`${folder}/${name}`, bytes, type);
    return bytes?.length ?? null;
  };
  const putRung = async ([rung, held]: [string, LiveSlot['rungs'][string]]) => {
    const init = `${slot.epoch}/${rung}`;
    if (!inits.has(init) && (await put(rung, INIT, INIT_TYPE)) === null) return;
    inits.add(init);
    const bytes = await put(rung, slot.file, SEGMENT_TYPE);
    if (bytes === null) return;
    const { durationSec, isDependent } = held;
    rungs[rung] = { durationSec, bytes, ...(isDependent && { isDependent }) };
  };
  await Promise.all(Object.entries(slot.rungs).map(putRung));
  if (Object.keys(rungs).length === 0) return;
  const { epoch, file, seq, disc, startMs } = slot;
  const segment = { streamId, epoch, file, seq, disc, startMs, durationSec: durationOf(slot), rungs };
  if (await port.kept(segment)) return;
  for (const rung of Object.keys(rungs)) await store.delete(`${folder}/${epoch}/${rung}/${file}`);
}

function durationOf({ rungs }: LiveSlot): number {
  return Math.max(0, ...Object.values(rungs).map(({ durationSec }) => durationSec));
}

/** Handles a file that disappeared before it was stored, which leaves a gap. */
function absent(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}
