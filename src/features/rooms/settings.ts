import { dateFromMs } from '../../kernel/clock.ts';
import type { RoomChange } from './repository.ts';
import type { RoomPatch } from './schemas.ts';

/** Default settings of a room. */
export const DEFAULTS = {
  description: null,
  empty_timeout_sec: 300,
  departure_timeout_sec: 20,
  max_duration_sec: null,
  auto_end_when_alone_sec: null,
  scheduled_start_at: null,
  expires_at: null,
  record_enabled: false,
  record_layout: 'GRID' as const,
  waiting_room: false,
  can_publish: true,
  can_subscribe: true,
  can_publish_data: true,
  can_screen_share: true,
  metadata: {},
};

type RoomColumns = { [K in keyof RoomChange]: Exclude<RoomChange[K], undefined> };

/** Returns the columns of the fields in the input, and no others. */
export function columnsOf(input: RoomPatch): RoomColumns {
  const { permissionsDefault: allowed = {} } = input;
  const change: RoomChange = {
    name: input.name,
    description: input.description,
    max_participants: input.maxParticipants,
    empty_timeout_sec: input.emptyTimeoutSec,
    departure_timeout_sec: input.departureTimeoutSec,
    max_duration_sec: input.maxDurationSec,
    auto_end_when_alone_sec: input.autoEndWhenAloneSec,
    scheduled_start_at: toDate(input.scheduledStartAt),
    expires_at: toDate(input.expiresAt),
    record_enabled: input.recordEnabled,
    record_layout: input.recordLayout,
    waiting_room: input.waitingRoom,
    can_publish: allowed.canPublish,
    can_subscribe: allowed.canSubscribe,
    can_publish_data: allowed.canPublishData,
    can_screen_share: allowed.canScreenShare,
    metadata: input.metadata,
  };
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

function toDate(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? dateFromMs(Date.parse(text)) : text;
}
