import type { Clock } from '../../../kernel/clock.ts';
import type { VideoCodec } from '../../../kernel/video-codecs.ts';
import type { Logger } from '../../../platform/logger.ts';

/** The parts that have an honest probe (docs/concepts/health.md). */
export const COMPONENTS = [
  'database',
  'queue',
  'storage',
  'ingest',
  'transcoder',
  'rooms',
  'webhooks',
  'payments',
] as const;
export type Component = (typeof COMPONENTS)[number];
export type Status = 'OK' | 'DEGRADED' | 'DOWN';

/** Probe of a component. One that throws, or takes too long, is DOWN. */
export type Probe = () => Promise<'OK' | 'DEGRADED'>;

export interface ComponentState {
  status: Status;
  /** Duration of the probe; null when it failed. */
  latencyMs: number | null;
}

export interface Readiness {
  /** DOWN with the database, DEGRADED when anything else is not OK. */
  status: Status;
  components: Record<Component, ComponentState>;
  /** Null on a node without ffmpeg. */
  ffmpeg: FfmpegState | null;
}

/** Ffmpeg of this node, with messages about missing features. */
export interface FfmpegState {
  version: string;
  lacks: string[];
  encoders: { codec: VideoCodec; encoder: string; isHardware: boolean }[];
}

export interface ReadinessCheck {
  /** Runs the probes at most once in five seconds, for any number of callers. */
  check(): Promise<Readiness>;
}

interface Deps {
  probes: Record<Component, Probe>;
  ffmpeg(): Promise<FfmpegState | null>;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
}

const LIMIT_MS = 1000;
/**
 * Probes with a longer limit: one starts a program, which is slow while encoding, and one calls a remote API.
 */
const LONGER: readonly Component[] = ['transcoder', 'payments'];
const LONGER_LIMIT_MS = 5000;
const FRESH_MS = 5000;

export function createReadiness({ probes, ffmpeg, clock, log }: Deps): ReadinessCheck {
  let last: { at: number; result: Promise<Readiness> } | null = null;

  const look = async (component: Component): Promise<ComponentState> => {
    const started = performance.now();
    try {
      const limitMs = LONGER.includes(component) ? LONGER_LIMIT_MS : LIMIT_MS;
      const status = await within(limitMs, probes[component]());
      return { status, latencyMs: Math.round(performance.now() - started) };
    } catch (error) {
      log.warn({ err: error, component }, 'a component does not respond');
      return { status: 'DOWN', latencyMs: null };
    }
  };

  const round = async (): Promise<Readiness> => {
    const [database, queue, storage, ingest, transcoder, rooms, webhooks, payments] = await Promise.all([
      look('database'),
      look('queue'),
      look('storage'),
      look('ingest'),
      look('transcoder'),
      look('rooms'),
      look('webhooks'),
      look('payments'),
    ]);
    const components = { database, queue, storage, ingest, transcoder, rooms, webhooks, payments };
    // The transcoder's own probe reports when it does not respond.
    const seen = await within(LIMIT_MS, ffmpeg()).catch(() => null);
    return { status: overall(components), components, ffmpeg: seen };
  };

  return {
    check() {
      const now = clock.ms();
      if (last === null || Math.abs(now - last.at) >= FRESH_MS) last = { at: now, result: round() };
      return last.result;
    },
  };
}

function overall(components: Record<Component, ComponentState>): Status {
  if (components.database.status === 'DOWN') return 'DOWN';
  return COMPONENTS.every((name) => components[name].status === 'OK') ? 'OK' : 'DEGRADED';
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no response within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
