import type { JanusHandle } from './client.ts';
import { RECORDINGS_FOLDER } from './settings.ts';

/**
 * Keyframe interval. A track begins with a keyframe. Janus requests one at the beginning, but browsers ignore
 * requests within 300 ms of the last one, so it repeats the request. Slices of a track begin at a keyframe,
 * too.
 */
const KEYFRAME_SEC = 2;

/**
 * Records all media sent into a room by current and later participants. Idempotent.
 *
 * @param folder below that of the recordings.
 * @throws {JanusError} when the room does not exist.
 */
export async function beginRecording(desk: JanusHandle, room: string, folder: string): Promise<void> {
  // Below the folder that Janus works in: it need not reach the others.
  const place = `${RECORDINGS_FOLDER}/${folder}`;
  await desk.send({ request: 'edit', room, new_rec_dir: place, new_fir_freq: KEYFRAME_SEC });
  await desk.send({ request: 'enable_recording', room, record: true });
}

/** @throws {JanusError} when the room does not exist. */
export async function endRecording(desk: JanusHandle, room: string): Promise<void> {
  await desk.send({ request: 'enable_recording', room, record: false });
  await desk.send({ request: 'edit', room, new_fir_freq: 0 });
}
