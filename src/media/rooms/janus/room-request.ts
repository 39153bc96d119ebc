import type { JanusHandle } from './client.ts';
import type { JanusLink } from './link-file.ts';

/** Janus's answer to it where the room is there already, which is as good. */
export const ROOM_EXISTS = 427;

/** Those of an identity whose older connection goes in this moment. */
const SPARE_PUBLISHERS = 10;
const MAX_BITRATE = 2_500_000;

/** Makes a room, the same for whoever comes first. */
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
    // Whoever is in the room is told who speaks.
    audiolevel_event: true,
    audio_active_packets: 25,
    audio_level_average: 50,
  };
}

export async function isRoom(handle: JanusHandle, room: string): Promise<boolean> {
  const { data } = await handle.send({ request: 'exists', room });
  return data.exists === true;
}
