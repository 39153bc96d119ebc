/** Liveness, readiness and the public health of the service. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasStalledQueue } from '../../../jobs/repository.ts';
import { newUuid } from '../../../kernel/ids.ts';
import type { RoomEngine } from '../../../media/contract/index.ts';
import type { Config } from '../../../platform/config.ts';
import { isReachable } from '../../../platform/outbound/index.ts';
import type { attemptsSince, oldestWaitSec } from '../../integration/webhooks/index.ts';
import type { ApiRole, FeatureModule } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { countLiveSlots } from '../../video/videos/index.ts';
import { healthPages } from './pages.ts';
import { databaseProbes, type HealthProbes, paymentsProbe } from './probes.ts';
import { createReadiness, type FfmpegState, type ReadinessCheck } from './readiness.service.ts';
import { healthRoutes } from './routes.ts';

interface HealthDeps extends Pick<Platform, 'clock' | 'config' | 'db' | 'log' | 'readiness' | 'sql'> {
  pingProviders(): Promise<void>;
  roomEngine(): RoomEngine;
  /** Throws while this machine has no usable ffmpeg. */
  checkTools(): Promise<unknown>;
  /** Returns the version, the missing features and the encoders of ffmpeg on this machine. */
  inspectTools(): Promise<FfmpegState>;
  attemptsSince: typeof attemptsSince;
  oldestWaitSec: typeof oldestWaitSec;
  countLiveSlots: typeof countLiveSlots;
}

const PROBE_MS = 1000;
const RTMP_PORT = 1935;
/** C0 and C1 of the RTMP handshake: version 3, time 0. The server answers with S0. */
const RTMP_HELLO = Buffer.alloc(1537);
RTMP_HELLO[0] = 3;

export function createHealthModule(deps: HealthDeps): FeatureModule {
  const { clock } = deps;
  return {
    routes: (role) => healthRoutes({ probes: probesOf(deps, role), readiness: readiness(deps, role), clock }),
    pages: () => [healthPages(deps)],
  };
}

function probesOf({ sql }: HealthDeps, { mediaRuns }: ApiRole): HealthProbes {
  return {
    media: mediaRuns,
    database: async () => {
      const late = new Promise<false>((resolve) => setTimeout(resolve, PROBE_MS, false).unref());
      const alive = sql`select 1`.then(
        () => true,
        () => false,
      );
      return Promise.race([alive, late]);
    },
  };
}

/** Returns the checks of `/health/ready` on this node. */
function readiness(deps: HealthDeps, { mediaRuns }: ApiRole): ReadinessCheck {
  const { config, clock, db, log, checkTools } = deps;
  const isMediaHere = config.ROLES.includes('media');
  const ingest = async () => {
    if (isMediaHere && !mediaRuns()) throw new Error('the media process is not running');
    await isReachable({ ...ingestAddress(config, isMediaHere), timeoutMs: PROBE_MS });
    return 'OK' as const;
  };
  const encodesHere = config.ROLES.includes('worker') && config.TRANSCODE_CONCURRENCY > 0;
  const transcoder = async () => {
    if (isMediaHere || encodesHere) await checkTools();
    else if ((await deps.countLiveSlots(deps)) === 0) throw new Error('no worker accepts encodes');
    return 'OK' as const;
  };
  const ffmpeg = async () => {
    if (!isMediaHere && !encodesHere) return null;
    return deps.inspectTools();
  };
  const seen = databaseProbes({ ...deps, deliveries: deps });
  return createReadiness({
    clock,
    log,
    ffmpeg,
    probes: {
      ...seen,
      queue: async () => ((await hasStalledQueue(db)) ? 'DEGRADED' : seen.queue()),
      storage: () => tryWriting(config.DATA_DIR),
      ingest,
      transcoder,
      async rooms() {
        const { ok, detail } = await deps.roomEngine().health();
        if (!ok) throw new Error(detail ?? 'the room engine does not respond');
        return 'OK';
      },
      payments: paymentsProbe({ clock, ping: deps.pingProviders }),
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
