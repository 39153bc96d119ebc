import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../../kernel/timeout.ts';
import type { BridgeManager } from '../../media/bridges/bridge-manager.ts';
import type { IngestEngine } from '../../media/contract/index.ts';
import type { EmbeddedRtmpEngine } from '../../media/ingest/embedded-rtmp.ts';
import type { Simulator } from '../../media/ingest/simulator.ts';
import type { Config } from '../../platform/config.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Container } from '../container.ts';
import type { MediaLaunch } from './launch.ts';
import type { RoomMedia } from './rooms.ts';

type DrainConfig = Pick<Config, 'MEDIA_DRAIN' | 'MEDIA_DRAIN_SEC'>;

/** Interval at which the media process checks whether broadcasts remain. */
const CHECK_MS = 250;

/** Longest wait for the database, which may be gone already. */
const DATABASE_MS = 2000;

/** Time in which the encoders of a stopped node reconnect to another one. */
export const MOVE_MS = 3000;

const waiting = new AbortController();

/** Returns the longest time that the broadcasts of this node may delay its stop. */
export function mediaDrainMs({ MEDIA_DRAIN, MEDIA_DRAIN_SEC }: DrainConfig): number {
  return MEDIA_DRAIN === 'wait' ? MEDIA_DRAIN_SEC * 1000 : 0;
}

/**
 * Stops the media process when its last broadcast has ended, if `MEDIA_DRAIN` is `wait`. The rest of the node
 * runs meanwhile (docs/guides/operations.md#broadcasts-of-a-stopped-node).
 */
export async function waitForBroadcasts(
  media: Pick<MediaLaunch, 'stop'>,
  config: DrainConfig,
): Promise<void> {
  if (config.MEDIA_DRAIN === 'move' || waiting.signal.aborted) return;
  waiting.signal.addEventListener('abort', () => void media.stop());
  await media.stop(mediaDrainMs(config));
}

/** Ends the wait for broadcasts, or prevents it. */
export function endMediaWait(): void {
  waiting.abort();
}

/** Releases what this node no longer runs, so that another node takes it over before the lease ends. */
export async function releaseLeases(
  managers: readonly Pick<BridgeManager, 'recover'>[],
  log: Logger,
): Promise<void> {
  const released = Promise.all(managers.map((manager) => manager.recover())).catch((error: unknown) =>
    log.warn({ err: error }, 'the leases of this node remain until they expire'),
  );
  await withTimeout(released, DATABASE_MS, null);
}

/**
 * Reports whether the broadcasts of this node are about to continue on another one, which then reads the last
 * segment numbers here.
 */
export async function hasSuccessor(
  { mediaNodes, log }: Pick<Container, 'mediaNodes' | 'log'>,
  { nodeId, engine }: { nodeId: string; engine: Pick<IngestEngine, 'list'> },
): Promise<boolean> {
  if (engine.list().length === 0) return false;
  const found = mediaNodes.hasOther(nodeId).catch((error: unknown) => {
    log.warn({ err: error }, 'the other media nodes could not be read');
    return false;
  });
  return withTimeout(found, DATABASE_MS, false);
}

interface DrainedPlane {
  engine: Pick<EmbeddedRtmpEngine, 'refusePublishes'> & Pick<IngestEngine, 'list'>;
  bridges: Pick<BridgeManager, 'stop' | 'recover'>;
  simulator: Pick<Simulator, 'stop'>;
  rooms: Pick<RoomMedia, 'refusePublishes'> | null;
}

/**
 * Returns the handler of signals in the media process. With `MEDIA_DRAIN` `wait`, its broadcasts continue until
 * the first process ends the wait by closing the channel: only that process can tell one signal to the whole
 * tree from two.
 */
export function createMediaDrain(
  config: DrainConfig,
  plane: DrainedPlane,
  { stop, log }: { stop: () => void; log: Logger },
): () => void {
  let isDraining = false;
  const drain = async () => {
    const maxMs = mediaDrainMs(config);
    log.info({ publishers: plane.engine.list().length, maxMs }, 'waiting for the last broadcast to end');
    plane.engine.refusePublishes();
    plane.rooms?.refusePublishes();
    await Promise.all([plane.bridges.stop(), plane.simulator.stop()]);
    await releaseLeases([plane.bridges], log);
    const deadlineMs = performance.now() + maxMs;
    while (plane.engine.list().length > 0 && performance.now() < deadlineMs) await sleep(CHECK_MS);
  };
  return () => {
    if (config.MEDIA_DRAIN === 'move') return stop();
    if (isDraining) return;
    isDraining = true;
    drain()
      .catch((error: unknown) => log.error({ err: error }, 'the broadcasts cannot be waited for'))
      .finally(stop);
  };
}
