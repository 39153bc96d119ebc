import type { JanusHandle } from './client.ts';
import type { JanusLink } from './link-file.ts';

/** Error code of Janus when the room already exists, which counts as success. */
export const ROOM_EXISTS = 427;

/** Additional publishers, for identities whose older connection is just closing. */
const SPARE_PUBLISHERS = 10;
const MAX_BITRATE = 2_500_000;

/** Returns the request that creates a room, identical for every caller. */
export function roomRequest(link: JanusLink, room: string, maxParticipants: number) {
  return {
    request: 'create',
    admin_key: link.adminKey,
    room,
    is_private: true,
    publishers: maxParticipants + SPARE_PUBLISHERS,
    bitrate: MAX_BITRATE,
    audiocodec: 'opus',
    videocodec: 'vp8',
    opus_fec: true,
    // Notifies participants of who is speaking.
    audiolevel_event: true,
    audio_active_packets: 25,
    audio_level_average: 50,
  };
}

export async function isRoom(handle: JanusHandle, room: string): Promise<boolean> {
  const { data } = await handle.send({ request: 'exists', room });
  return data.exists === true;
}
