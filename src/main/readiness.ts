import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createReadiness, databaseProbes, type ReadinessCheck } from '../features/health/index.ts';
import { newUuid } from '../kernel/ids.ts';
import { checkFfmpeg } from '../media/ffmpeg/check.ts';
import type { Config } from '../platform/config.ts';
import { reach } from '../platform/outbound/index.ts';
import type { Container } from './container.ts';

const LIMIT_MS = 1000;
const RTMP_PORT = 1935;
/** ffmpeg does not come and go, and asking it takes three programs. */
const FFMPEG_FRESH_MS = 60_000;
/** C0 and C1 of the RTMP handshake: version 3, time 0. The server answers with S0. */
const RTMP_HELLO = Buffer.alloc(1537);
RTMP_HELLO[0] = 3;

/** What `/health/ready` tries out on this node. */
export function readiness(container: Container, mediaRuns: () => boolean): ReadinessCheck {
  const { config, clock, log } = container;
  const isMediaHere = config.ROLES.includes('media');
  const ingest = async () => {
    if (isMediaHere && !mediaRuns()) throw new Error('the media process does not run');
    await reach({ ...ingestAddress(config, isMediaHere), timeoutMs: LIMIT_MS });
    return 'OK' as const;
  };
  let ffmpegSeenAt = Number.NEGATIVE_INFINITY;
  const ffmpeg = async () => {
    if (Math.abs(clock.ms() - ffmpegSeenAt) < FFMPEG_FRESH_MS) return 'OK' as const;
    await checkFfmpeg(config.FFMPEG_PATH);
    ffmpegSeenAt = clock.ms();
    return 'OK' as const;
  };
  return createReadiness({
    clock,
    log,
    probes: {
      ...databaseProbes(container),
      storage: () => tryWriting(config.DATA_DIR),
      ingest,
      // The media role does not start without a usable ffmpeg: elsewhere, one that answers has it.
      transcoder: isMediaHere ? ffmpeg : ingest,
    },
  });
}

/** This node's own port, or that of the media role wherever it is. */
function ingestAddress({ HOST, RTMP_PORT: port, RTMP_URL }: Config, isMediaHere: boolean) {
  if (isMediaHere) return { host: loopbackOf(HOST), port, greeting: RTMP_HELLO };
  const url = new URL(RTMP_URL);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (url.protocol === 'rtmps:') return { host, port: Number(url.port || 443) };
  return { host, port: Number(url.port || RTMP_PORT), greeting: RTMP_HELLO };
}

function loopbackOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

async function tryWriting(dataDir: string): Promise<'OK'> {
  const file = join(dataDir, `.probe-${newUuid()}`);
  try {
    await writeFile(file, 'probe', { flag: 'wx' });
  } finally {
    await rm(file, { force: true });
  }
  return 'OK';
}
