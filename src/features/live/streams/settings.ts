import type { StreamDetails } from './lists.repository.ts';

/** Returns the settings of a stream that partners may change, as the API names them. */
export function settingsOf(row: StreamDetails) {
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
