import Type from 'typebox';
import { checkedIfSent } from '../../../http/access.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { LATEST_VERSION } from '../../../http/plugins/version.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { Instant, Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import { VIDEO_CODECS } from '../../../kernel/video-codecs.ts';
import type { HealthProbes } from './probes.ts';
import type { FfmpegState, Readiness, ReadinessCheck } from './readiness.service.ts';

const HealthStatus = namedSchema('HealthStatus', OneOf(['OK', 'DEGRADED', 'DOWN'] as const));

const Health = namedSchema(
  'Health',
  Type.Object({
    status: HealthStatus,
    version: Type.String(),
    time: Instant,
  }),
  { status: 'OK', version: '1.0.0', time: '2026-11-20T09:00:00.000Z' },
);

const Component = namedSchema(
  'HealthComponent',
  Type.Object({
    status: HealthStatus,
    latencyMs: Nullable(
      Type.Integer({ description: 'Latency of the probe; null if it failed or timed out.' }),
    ),
  }),
  { status: 'OK', latencyMs: 3 },
);

const Encoder = Type.Object({
  codec: OneOf(VIDEO_CODECS),
  encoder: Type.String({ description: 'Name of the encoder in ffmpeg.' }),
  isHardware: Type.Boolean({
    description:
      'Whether a hardware encoder is used. If it fails or is at capacity, software encodes instead.',
  }),
});

const FFMPEG_SAMPLE: FfmpegState = {
  version: '7.1.1',
  lacks: ['OPUS_OVER_RTMP'],
  encoders: [{ codec: 'H264', encoder: 'libx264', isHardware: false }],
};

const Ffmpeg = namedSchema(
  'HealthFfmpeg',
  Type.Object({
    version: Type.String({ description: 'Version as ffmpeg reports it.' }),
    lacks: Type.Array(
      Type.String({
        description:
          'ENHANCED_RTMP: HEVC, AV1 and VP9 cannot be published (requires 6.1). OPUS_OVER_RTMP: Opus cannot be published (requires 8.0). HDR_TONE_MAPPING: HDR videos are not tone-mapped (requires zscale). ANIMATED_PREVIEWS: videos have no animated previews (requires libwebp). SANDBOX: ffmpeg reads user files with less isolation (requires bubblewrap). CODECS: no encoder for some of VIDEO_CODECS. HARDWARE_ENCODER: the encoder in VIDEO_ENCODER failed its test, fully or partially.',
      }),
    ),
    encoders: Type.Array(Encoder, { description: 'Encoder used for each video codec.' }),
  }),
  FFMPEG_SAMPLE,
);

const Ready = namedSchema(
  'Readiness',
  Type.Object({
    status: HealthStatus,
    components: Type.Object({
      database: Component,
      queue: Component,
      storage: Component,
      ingest: Component,
      transcoder: Component,
      rooms: Component,
      webhooks: Component,
      payments: Component,
    }),
    ffmpeg: NullableObject(Ffmpeg),
  }),
  {
    status: 'OK',
    components: {
      database: { status: 'OK', latencyMs: 3 },
      queue: { status: 'OK', latencyMs: 3 },
      storage: { status: 'OK', latencyMs: 3 },
      ingest: { status: 'OK', latencyMs: 3 },
      transcoder: { status: 'OK', latencyMs: 3 },
      rooms: { status: 'OK', latencyMs: 1 },
      webhooks: { status: 'OK', latencyMs: 3 },
      payments: { status: 'OK', latencyMs: 3 },
    },
    ffmpeg: FFMPEG_SAMPLE,
  },
);

interface Deps {
  probes: HealthProbes;
  readiness: ReadinessCheck;
  clock: Clock;
}

function downMessage({ components }: Readiness): string {
  const down = Object.entries(components).filter(([, { status }]) => status === 'DOWN');
  return `The platform is DOWN: ${down.map(([name]) => name).join(', ')}.`;
}

/** `/health` and `/health/ready` (docs/concepts/health.md). */
export function healthRoutes({ probes, readiness, clock }: Deps): Route[] {
  return [
    defineRoute({
      ...checkedIfSent,
      operationId: 'health.get',
      method: 'GET',
      path: '/health',
      summary: 'Check service health',
      skipSuccessLog: true,
      description:
        'Returns 200 while DEGRADED, and 503 `SERVICE_UNAVAILABLE` while the database is unavailable.',
      reply: { status: 200, schema: Health },
      async handler() {
        if (!(await probes.database())) throw new AppError('SERVICE_UNAVAILABLE');
        const status = probes.media() ? 'OK' : 'DEGRADED';
        return { status, version: LATEST_VERSION, time: clock.now().toISOString() };
      },
    }),
    defineRoute({
      ...checkedIfSent,
      operationId: 'health.ready',
      method: 'GET',
      path: '/health/ready',
      summary: 'Get component status',
      skipSuccessLog: true,
      description:
        'Probes each component, at most once every five seconds. A component is DOWN if its probe fails or times out. Returns 503 `SERVICE_UNAVAILABLE` when the platform is DOWN, for example without the database, and 200 while DEGRADED. `ffmpeg` is null without a key.',
      reply: { status: 200, schema: Ready },
      async handler({ caller }) {
        const state = await readiness.check();
        if (state.status === 'DOWN')
          throw new AppError('SERVICE_UNAVAILABLE', { message: downMessage(state) });
        // Program versions and missing features help attackers.
        return caller === null ? { ...state, ffmpeg: null } : state;
      },
    }),
  ];
}
