import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  createReadiness,
  databaseProbes,
  type HealthProbes,
  healthPages,
  healthRoutes,
  paymentsProbe,
  type ReadinessCheck,
} from '../../features/insight/health/index.ts';
import { attemptsSince, oldestWaitSec } from '../../features/integration/webhooks/index.ts';
import { countLiveSlots } from '../../features/video/videos/index.ts';
import { hasStalledQueue } from '../../jobs/repository.ts';
import { newUuid } from '../../kernel/ids.ts';
import { missingFeatures } from '../../media/ffmpeg/check.ts';
import type { Config } from '../../platform/config.ts';
import { isReachable } from '../../platform/outbound/index.ts';
import type { ApiRole, FeatureModule } from '../feature-module.ts';
import { codecEncoders, missingCodecs } from '../media-tools.ts';
import type { BaseContext } from '../wiring.ts';
import type { RoomsPart } from './rooms.ts';

interface Paying {
  pingProviders(): Promise<void>;
}

type Needs = BaseContext & Paying & Pick<RoomsPart, 'roomEngine'>;

const PROBE_MS = 1000;
const RTMP_PORT = 1935;
/** C0 and C1 of the RTMP handshake: version 3, time 0. The server answers with S0. */
const RTMP_HELLO = Buffer.alloc(1537);
RTMP_HELLO[0] = 3;

/** @param base with the engine of this node's rooms, and who moves the money. */
export function healthPart(base: Needs): FeatureModule {
  const { clock } = base;
  return {
    routes: (role) => healthRoutes({ probes: probesOf(base, role), readiness: readiness(base, role), clock }),
    pages: (role) => [healthPages({ probes: probesOf(base, role) })],
  };
}

function probesOf({ sql }: BaseContext, { mediaRuns }: ApiRole): HealthProbes {
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
function readiness(base: Needs, { mediaRuns }: ApiRole): ReadinessCheck {
  const { config, clock, db, log, checkTools } = base;
  const isMediaHere = config.ROLES.includes('media');
  const ingest = async () => {
    if (isMediaHere && !mediaRuns()) throw new Error('the media process does not run');
    await isReachable({ ...ingestAddress(config, isMediaHere), timeoutMs: PROBE_MS });
    return 'OK' as const;
  };
  const encodesHere = config.ROLES.includes('worker') && config.TRANSCODE_CONCURRENCY > 0;
  const transcoder = async () => {
    if (isMediaHere || encodesHere) await checkTools();
    else if ((await countLiveSlots(base)) === 0) throw new Error('no worker takes encodes');
    return 'OK' as const;
  };
  const ffmpeg = async () => {
    if (!isMediaHere && !encodesHere) return null;
    const [info, { weakness }] = await Promise.all([checkTools(), base.guard()]);
    const found = await base.hardware.find();
    const lacks = [
      ...missingFeatures(info),
      ...(weakness === null ? [] : ['SANDBOX']),
      ...(missingCodecs(config, info, found).length === 0 ? [] : ['CODECS']),
      ...(found.refusals.length === 0 ? [] : ['HARDWARE_ENCODER']),
    ];
    return { version: info.version, lacks, encoders: codecEncoders(config, info, found) };
  };
  const seen = databaseProbes({ ...base, deliveries: { oldestWaitSec, attemptsSince } });
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
        const { ok, detail } = await base.roomEngine().health();
        if (!ok) throw new Error(detail ?? 'what carries rooms does not answer');
        return 'OK';
      },
      payments: paymentsProbe({ clock, ping: base.pingProviders }),
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
