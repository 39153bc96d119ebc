import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf, Title } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { MAX_PUSH_URL_LENGTH } from '../../../kernel/push-url.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { RestreamWithTargets, TargetRow } from './repository.ts';
import {
  PRESETS,
  type Preset,
  RESTREAM_STATUSES,
  restreamStatus,
  TARGET_STATUSES,
  targetStatus,
} from './rules.ts';

const Platform = namedSchema('RestreamPlatform', OneOf(VALUES.restream_target.platform));
const StartMode = namedSchema('RestreamStartMode', OneOf(VALUES.restream.start_mode));
/** Maximum above every plan, so that exceeding the plan gets a quota error. */
const MAX_TARGETS = 100;
const KEY = { minLength: 1, maxLength: 512 };
/** Form accepted by libsrt. */
const PASSPHRASE = { minLength: 10, maxLength: 79, pattern: '^[\\x20-\\x7e]+$' };

const target = {
  name: Type.Optional(Title),
  platform: Type.Optional(Platform),
  url: Type.Optional(
    Type.String({
      maxLength: MAX_PUSH_URL_LENGTH,
      description: '`rtmp://`, `rtmps://` or `srt://`, without the stream key. Required only for CUSTOM.',
    }),
  ),
  enabled: Type.Optional(Type.Boolean()),
};

export const TargetIn = namedSchema(
  'RestreamTargetCreate',
  Type.Object({
    ...target,
    streamKey: Type.Optional(
      Type.String({ ...KEY, description: 'Secret; never returned. For SRT, the streamid.' }),
    ),
    passphrase: Type.Optional(
      Type.String({ ...PASSPHRASE, description: 'Secret; never returned. Encrypts SRT.' }),
    ),
  }),
  { platform: 'YOUTUBE', streamKey: 'abcd-efgh-ijkl-mnop-qrst' },
);
export type TargetIn = Static<typeof TargetIn>;

export const TargetPatch = namedSchema(
  'RestreamTargetUpdate',
  Type.Object({
    ...target,
    streamKey: Type.Optional(
      Nullable(
        Type.String({ ...KEY, description: 'New stream key; null removes the key of an SRT target.' }),
      ),
    ),
    passphrase: Type.Optional(
      Nullable(Type.String({ ...PASSPHRASE, description: 'New passphrase; null disables encryption.' })),
    ),
  }),
  { enabled: false },
);
export type TargetPatch = Static<typeof TargetPatch>;

export const RestreamIn = namedSchema(
  'RestreamCreate',
  Type.Object({
    streamId: Type.String(),
    name: Type.Optional(Title),
    enabled: Type.Optional(Type.Boolean()),
    startMode: Type.Optional(StartMode),
    targets: Type.Optional(Type.Array(TargetIn, { maxItems: MAX_TARGETS })),
  }),
  {
    streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    name: 'Everywhere',
    targets: [{ platform: 'YOUTUBE', streamKey: 'abcd-efgh-ijkl-mnop-qrst' }],
  },
);
export type RestreamIn = Static<typeof RestreamIn>;

export const RestreamPatch = namedSchema(
  'RestreamUpdate',
  Type.Object({
    name: Type.Optional(Title),
    enabled: Type.Optional(Type.Boolean()),
    startMode: Type.Optional(StartMode),
  }),
  { enabled: false },
);
export type RestreamPatch = Static<typeof RestreamPatch>;

export const Target = namedSchema(
  'RestreamTarget',
  Type.Object({
    id: IdOf('rtg'),
    name: Type.String(),
    platform: Platform,
    url: Type.String(),
    streamKeyLast4: Nullable(
      Type.String({
        description: 'Last four characters of the stream key; null without a key or if it is too short.',
      }),
    ),
    hasPassphrase: Type.Boolean({ description: 'Whether SRT encryption is enabled.' }),
    enabled: Type.Boolean(),
    status: OneOf(TARGET_STATUSES),
    errorSeverity: Nullable(
      OneOf(VALUES.restream_target.error_severity, {
        description: 'NORMAL failures are retried automatically; FATAL failures after an update or `retry`.',
      }),
    ),
    errorMessage: Nullable(Type.String()),
    retryCount: Type.Integer({
      description: 'Failures since the target last accepted the broadcast for 30 seconds.',
    }),
    nextRetryAt: Nullable(Instant),
    connectedAt: Nullable(Instant),
    bitrateKbps: Nullable(Type.Integer({ description: 'Bitrate sent over the last five seconds.' })),
    lastFailureAt: Nullable(Instant),
    lastFailureMessage: Nullable(
      Type.String({ description: 'Message of the last failure; not cleared on reconnect.' }),
    ),
  }),
  {
    id: 'rtg_01kafe3n4pfx2v9yq6m8d7t5zr',
    name: 'YouTube',
    platform: 'YOUTUBE',
    url: 'rtmps://a.rtmps.youtube.com/live2',
    streamKeyLast4: 'qrst',
    hasPassphrase: false,
    enabled: true,
    status: 'BROADCASTING',
    errorSeverity: null,
    errorMessage: null,
    retryCount: 0,
    nextRetryAt: null,
    connectedAt: '2026-11-20T09:00:01.000Z',
    bitrateKbps: 6120,
    lastFailureAt: null,
    lastFailureMessage: null,
  },
);

export const Restream = namedSchema(
  'Restream',
  Type.Object({
    id: IdOf('rst'),
    name: Type.String(),
    streamId: IdOf('str'),
    enabled: Type.Boolean(),
    status: OneOf(RESTREAM_STATUSES),
    startMode: StartMode,
    targets: Type.Array(Target),
    startedAt: Nullable(Instant),
    stoppedAt: Nullable(Instant),
    createdAt: Instant,
    updatedAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'rst_01kafe3n4pfx2v9yq6m8d7t5zr',
    name: 'Everywhere',
    streamId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    enabled: true,
    status: 'IDLE',
    startMode: 'WITH_BROADCAST',
    targets: [],
    startedAt: null,
    stoppedAt: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    updatedAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

export const PlatformPreset = namedSchema(
  'RestreamPlatformPreset',
  Type.Object({
    platform: Platform,
    name: Type.String(),
    urls: Type.Array(Type.String(), {
      description: 'Ingest URLs; the first is used if a target does not specify one.',
    }),
    streamKeyExample: Type.String({ description: 'Example of a stream key.' }),
  }),
  {
    platform: 'YOUTUBE',
    name: 'YouTube',
    urls: ['rtmps://a.rtmps.youtube.com/live2'],
    streamKeyExample: 'abcd-efgh-ijkl-mnop-qrst',
  },
);

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toTarget(row: TargetRow): Static<typeof Target> {
  return {
    id: row.id,
    name: row.name,
    platform: row.platform,
    url: row.url,
    streamKeyLast4: row.stream_key_last4,
    hasPassphrase: row.passphrase !== null,
    enabled: row.enabled,
    status: targetStatus(row),
    errorSeverity: row.error_severity,
    errorMessage: row.error_message,
    retryCount: row.retry_count,
    nextRetryAt: iso(row.next_retry_at),
    connectedAt: iso(row.connected_at),
    bitrateKbps: row.bitrate_kbps,
    lastFailureAt: iso(row.last_failure_at),
    lastFailureMessage: row.last_failure,
  };
}

export function toRestream(whole: RestreamWithTargets, mode: Mode): Static<typeof Restream> {
  return { ...showRestream(whole), mode };
}

/** Returns the restream without `mode`, for callers that know the workspace. */
export function showRestream({ row, targets }: RestreamWithTargets): Omit<Static<typeof Restream>, 'mode'> {
  return {
    id: row.id,
    name: row.name,
    streamId: row.stream_id,
    enabled: row.enabled,
    status: restreamStatus(row, targets),
    startMode: row.start_mode,
    targets: targets.map(toTarget),
    startedAt: iso(row.started_at),
    stoppedAt: iso(row.stopped_at),
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
  };
}

export function presets(): Static<typeof PlatformPreset>[] {
  return VALUES.restream_target.platform.map((platform) => {
    const { name, urls, keyExample }: Preset = PRESETS[platform];
    return { platform, name, urls: [...urls], streamKeyExample: keyExample };
  });
}
