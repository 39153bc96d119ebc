import type { Selectable } from 'kysely';
import Type from 'typebox';
import { field, fieldTable } from '../../../http/field-table.ts';
import { namedSchema } from '../../../http/named-schema.ts';
import { Instant, Metadata, Nullable, OneOf, TierIds, Title, Visibility } from '../../../http/schema.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { type StreamTable, VALUES } from '../../../platform/db/tables.generated.ts';

const LatencyMode = namedSchema('LatencyMode', OneOf(VALUES.stream.latency_mode));
const ChatMode = namedSchema('ChatMode', OneOf(VALUES.stream.chat_mode));

/** Settings of a stream. Requests, responses, queries and `settingsOf` follow from it. */
export const streamFields = fieldTable({
  title: field({ column: 'title', input: Title, output: Type.String(), example: 'Friday night live' }),
  description: field({
    column: 'description',
    input: Nullable(Type.String({ maxLength: 5000 })),
    output: Nullable(Type.String()),
    example: null,
  }),
  visibility: field({ column: 'visibility', input: Visibility, output: Visibility, example: 'PUBLIC' }),
  tierIds: field({ column: 'tier_ids', input: TierIds, output: TierIds, example: [] }),
  enabled: field({ column: 'enabled', input: Type.Boolean(), output: Type.Boolean(), example: true }),
  latencyMode: field({
    column: 'latency_mode',
    input: LatencyMode,
    output: LatencyMode,
    example: 'STANDARD',
  }),
  record: field({ column: 'record', input: Type.Boolean(), output: Type.Boolean(), example: true }),
  recordVisibility: field({
    column: 'record_visibility',
    input: Visibility,
    output: Visibility,
    example: 'PRIVATE',
  }),
  reconnectWindowSec: field({
    column: 'reconnect_window_sec',
    input: Type.Integer({ minimum: 0, maximum: 1800 }),
    output: Type.Integer(),
    example: 60,
  }),
  dvrWindowSec: field({
    column: 'dvr_window_sec',
    input: Type.Integer({
      minimum: 0,
      maximum: 14_400,
      description: 'How far back viewers can seek while the stream is live; counts as storage.',
    }),
    output: Type.Integer(),
    example: 0,
  }),
  autoStart: field({ column: 'auto_start', input: Type.Boolean(), output: Type.Boolean(), example: false }),
  autoStopAfterSec: field({
    column: 'auto_stop_after_sec',
    input: Nullable(Type.Integer({ minimum: 1, maximum: 43_200 })),
    output: Nullable(Type.Integer()),
    example: null,
  }),
  maxDurationSec: field({
    column: 'max_duration_sec',
    input: Nullable(Type.Integer({ minimum: 60, maximum: 43_200 })),
    output: Nullable(Type.Integer()),
    example: null,
  }),
  chatEnabled: field({
    column: 'chat_enabled',
    input: Type.Boolean(),
    output: Type.Boolean(),
    example: true,
  }),
  chatMode: field({ column: 'chat_mode', input: ChatMode, output: ChatMode, example: 'OPEN' }),
  slowModeSec: field({
    column: 'slow_mode_sec',
    input: Type.Integer({ minimum: 0, maximum: 3600 }),
    output: Type.Integer(),
    example: 0,
  }),
  bannedWords: field({
    column: 'banned_words',
    input: Type.Array(Type.String({ minLength: 1, maxLength: 50, pattern: '[\\p{L}\\p{N}]' }), {
      maxItems: 200,
      description: 'Chat messages that contain one of these words are rejected; case-insensitive.',
    }),
    output: Type.Array(Type.String()),
    example: [],
  }),
  scheduledStartAt: field({
    column: 'scheduled_start_at',
    input: Nullable(Type.String({ format: 'date-time' })),
    output: Nullable(Instant),
    example: null,
    toColumn: (text) => (text === null ? null : dateFromMs(Date.parse(text))),
  }),
  metadata: field({ column: 'metadata', input: Metadata, output: Metadata, example: {} }),
  externalId: field({
    column: 'external_id',
    input: Nullable(Type.String({ maxLength: 255 })),
    output: Nullable(Type.String()),
    example: null,
  }),
});

type SettingsRow = Pick<Selectable<StreamTable>, (typeof streamFields.columns)[number]>;

/**
 * Returns the settings of a stream under their API names. Written out because lists call it for each row: a
 * loop over the fields takes twice the time.
 */
export function settingsOf(row: SettingsRow): typeof streamFields.example {
  return {
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    tierIds: row.tier_ids,
    enabled: row.enabled,
    latencyMode: row.latency_mode,
    record: row.record,
    recordVisibility: row.record_visibility,
    reconnectWindowSec: row.reconnect_window_sec,
    dvrWindowSec: row.dvr_window_sec,
    autoStart: row.auto_start,
    autoStopAfterSec: row.auto_stop_after_sec,
    maxDurationSec: row.max_duration_sec,
    chatEnabled: row.chat_enabled,
    chatMode: row.chat_mode,
    slowModeSec: row.slow_mode_sec,
    bannedWords: row.banned_words,
    scheduledStartAt: row.scheduled_start_at?.toISOString() ?? null,
    metadata: row.metadata,
    externalId: row.external_id,
  };
}
