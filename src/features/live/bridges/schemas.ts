import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { MODES, type Mode } from '../../../kernel/access.ts';
import { MAX_PULL_URL_LENGTH } from '../../../kernel/pull-url.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { BridgeRow } from './repository.ts';

const BridgeType = namedSchema('BridgeType', OneOf(VALUES.bridge.type));
const Layout = OneOf(VALUES.bridge.layout);
const ID = { minLength: 1, maxLength: 64 };

export const BridgeIn = namedSchema(
  'BridgeCreate',
  Type.Object({
    type: BridgeType,
    sourceId: Type.Optional(
      Nullable(Type.String({ ...ID, description: 'ID of the source room or stream.' })),
    ),
    sourceUrl: Type.Optional(
      Nullable(
        Type.String({
          minLength: 1,
          maxLength: MAX_PULL_URL_LENGTH,
          description:
            'The source of PULL_TO_STREAM: `https://` (an HLS playlist), `rtmp(s)://`, `srt://` or `rtsp(s)://`. Credentials in it are never returned.',
        }),
      ),
    ),
    targetId: Type.String({ ...ID, description: 'ID of the target stream or room.' }),
    layout: Type.Optional(Nullable(Layout)),
    autoRestart: Type.Optional(
      Type.Boolean({ description: 'Whether to retry failures with exponential backoff. Default: false.' }),
    ),
    expiresAt: Type.Optional(Type.Unsafe<string | null>({ ...Nullable(Instant) })),
  }),
  {
    type: 'PULL_TO_STREAM',
    sourceUrl: 'https://live.example.com/event/master.m3u8',
    targetId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    autoRestart: true,
  },
);
export type BridgeIn = Static<typeof BridgeIn>;

export const Bridge = namedSchema(
  'Bridge',
  Type.Object({
    id: IdOf('brg'),
    type: BridgeType,
    sourceId: Nullable(Type.String()),
    sourceUrl: Nullable(
      Type.String({ description: 'User names, keys and query values are replaced by `***`.' }),
    ),
    targetId: Type.String(),
    layout: Nullable(Layout),
    status: OneOf(VALUES.bridge.status, {
      description: 'PENDING waits for its first or next attempt; FAILED and STOPPED are final.',
    }),
    error: Nullable(Type.String({ description: 'Human-readable message of the last failure.' })),
    endReason: Nullable(OneOf(VALUES.bridge.end_reason, { description: 'Why the bridge is STOPPED.' })),
    autoRestart: Type.Boolean(),
    retryCount: Type.Integer({
      description: 'Failures since the bridge last transferred media for 30 seconds.',
    }),
    nextRetryAt: Nullable(Instant),
    expiresAt: Nullable(Instant),
    startedAt: Nullable(Instant),
    stoppedAt: Nullable(Instant),
    createdAt: Instant,
    mode: OneOf(MODES),
  }),
  {
    id: 'brg_01kafe3n4pfx2v9yq6m8d7t5zr',
    type: 'PULL_TO_STREAM',
    sourceId: null,
    sourceUrl: 'https://live.example.com/event/master.m3u8',
    targetId: 'str_01kafe3n4pfx2v9yq6m8d7t5zr',
    layout: null,
    status: 'ACTIVE',
    error: null,
    endReason: null,
    autoRestart: true,
    retryCount: 0,
    nextRetryAt: null,
    expiresAt: null,
    startedAt: '2026-11-20T09:00:02.000Z',
    stoppedAt: null,
    createdAt: '2026-11-20T09:00:00.000Z',
    mode: 'live',
  },
);

const iso = (date: Date | null): string | null => date?.toISOString() ?? null;

export function toBridge(row: BridgeRow, mode: Mode): Static<typeof Bridge> {
  return {
    id: row.id,
    type: row.type,
    sourceId: row.source_id,
    sourceUrl: row.source_url_redacted,
    targetId: row.target_id,
    layout: row.layout,
    status: row.status,
    error: row.error,
    endReason: row.end_reason,
    autoRestart: row.auto_restart,
    retryCount: row.retry_count,
    nextRetryAt: iso(row.next_retry_at),
    expiresAt: iso(row.expires_at),
    startedAt: iso(row.started_at),
    stoppedAt: iso(row.stopped_at),
    createdAt: row.created_at.toISOString(),
    mode,
  };
}
