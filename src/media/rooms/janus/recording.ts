import type { JanusHandle } from './client.ts';
import { RECORDINGS_FOLDER } from './settings.ts';

/**
 * A track begins with a picture that stands for itself. Janus asks for one when it begins, but browsers pass over what is
 * asked within 300 ms of the last: it asks again and again. Pieces of a track begin at one, too.
 */
const KEYFRAME_SEC = 2;

/**
 * Writes whatever is sent into a room, by those who are there and those who come. Repeats change nothing.
 *
 * @param folder below that of the recordings.
 * @throws {JanusError} when there is no such room.
 */
export async function beginRecording(desk: JanusHandle, room: string, folder: string): Promise<void> {
  // Below the folder that Janus works in: it need not reach the others.
  const place = `${RECORDINGS_FOLDER}/${folder}`;
  await desk.send({ request: 'edit', room, new_rec_dir: place, new_fir_freq: KEYFRAME_SEC });
  await desk.send({ request: 'enable_recording', room, record: true });
}

/** @throws {JanusError} when there is no such room. */
export async function endRecording(desk: JanusHandle, room: string): Promise<void> {
  await desk.send({ request: 'enable_recording', room, record: false });
  await desk.send({ request: 'edit', room, new_fir_freq: 0 });
}
