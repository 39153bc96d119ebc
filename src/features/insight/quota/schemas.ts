import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Nullable, NullableObject, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import {
  MAX_DURATION_SEC,
  MAX_FILE_BYTES,
  MAX_LIVE_FPS,
  MAX_UPLOAD_FPS,
  PLANS,
  type Plan,
  RESOURCE_KEYS,
} from '../../../kernel/plans.ts';
import { type Reading, UNITS } from './rules.ts';
import type { RequestLimits, RequestWindow } from './service.ts';

const PLAN_NAMES = ['FREE', 'STAR', 'PRO', 'VIP'] as const satisfies readonly Plan[];

export const Resource = namedSchema(
  'QuotaResource',
  Type.Object({
    key: OneOf(RESOURCE_KEYS),
    limit: Nullable(Type.Integer({ description: 'Plan limit; null means unlimited.' })),
    used: Type.Integer(),
    remaining: Nullable(Type.Integer({ description: 'Never negative; null means unlimited.' })),
    unit: OneOf(UNITS),
    resetsAt: Nullable(
      Type.String({
        ...Instant,
        description: 'When `used` resets; null if it only falls when resources are removed.',
      }),
    ),
  }),
  { key: 'WEBHOOKS', limit: 10, used: 3, remaining: 7, unit: 'COUNT', resetsAt: null },
);

const Window = namedSchema(
  'RequestLimit',
  Type.Object({
    limit: Type.Integer(),
    used: Nullable(Type.Integer({ description: 'Null while the count is unavailable.' })),
    remaining: Nullable(Type.Integer()),
    resetsAt: Instant,
  }),
  { limit: 1000, used: 12, remaining: 988, resetsAt: '2026-11-20T09:01:00.000Z' },
);

const MediaLimits = namedSchema(
  'MediaLimits',
  Type.Object({
    maxUploadHeight: Type.Integer({ description: 'Shorter side of the top rendition in pixels.' }),
    maxLiveHeight: Type.Integer({ description: 'Shorter side in pixels.' }),
    maxUploadFps: Type.Integer(),
    maxLiveFps: Type.Integer(),
    maxLiveKbps: Type.Integer({ description: 'Total bitrate of an encoder, video and audio.' }),
    maxFileBytes: Type.Integer(),
    maxDurationSec: Type.Integer(),
  }),
);

export const QuotaOut = namedSchema(
  'Quota',
  Type.Object({
    plan: OneOf(PLAN_NAMES),
    mode: OneOf(MODES),
    resources: Type.Array(Resource),
    media: MediaLimits,
    requests: Type.Object(
      { perMinute: Window, perDay: NullableObject(Window) },
      {
        description:
          'Request limits of the caller, including this request; `perDay` is null without a daily quota.',
      },
    ),
  }),
  {
    plan: 'STAR',
    mode: 'live',
    resources: [
      { key: 'WEBHOOKS', limit: 10, used: 3, remaining: 7, unit: 'COUNT', resetsAt: null },
      { key: 'CONCURRENT_STREAMS', limit: 2, used: 0, remaining: 2, unit: 'COUNT', resetsAt: null },
    ],
    media: {
      maxUploadHeight: 1080,
      maxLiveHeight: 1080,
      maxUploadFps: MAX_UPLOAD_FPS,
      maxLiveFps: MAX_LIVE_FPS,
      maxLiveKbps: 30_000,
      maxFileBytes: MAX_FILE_BYTES,
      maxDurationSec: MAX_DURATION_SEC,
    },
    requests: {
      perMinute: { limit: 1000, used: 12, remaining: 988, resetsAt: '2026-11-20T09:01:00.000Z' },
      perDay: null,
    },
  },
);

export const ResourceParams = Type.Object({
  key: Type.String({ description: 'Resource key.', examples: ['WEBHOOKS'] }),
});

/** Rendition heights of a plan in a mode, as known to the encoder. */
export interface Heights {
  live(plan: Plan, mode: Mode): number;
  upload(plan: Plan, mode: Mode): number;
}

export function toResource(reading: Reading): Static<typeof Resource> {
  return { ...reading, resetsAt: reading.resetsAt?.toISOString() ?? null };
}

export function toMedia(plan: Plan, mode: Mode, heights: Heights): Static<typeof MediaLimits> {
  return {
    maxUploadHeight: heights.upload(plan, mode),
    maxLiveHeight: heights.live(plan, mode),
    maxUploadFps: MAX_UPLOAD_FPS,
    maxLiveFps: MAX_LIVE_FPS,
    maxLiveKbps: PLANS[plan].maxLiveKbps,
    maxFileBytes: MAX_FILE_BYTES,
    maxDurationSec: MAX_DURATION_SEC,
  };
}

function toWindow({ resetsAt, ...rest }: RequestWindow): Static<typeof Window> {
  return { ...rest, resetsAt: resetsAt.toISOString() };
}

export function toRequests({ perMinute, perDay }: RequestLimits): Static<typeof QuotaOut>['requests'] {
  return { perMinute: toWindow(perMinute), perDay: perDay === null ? null : toWindow(perDay) };
}
