import { join } from 'node:path';
import { readLink } from '../../src/media/rooms/janus/link-file.ts';
import { janusUnavailableReason } from '../../src/media/rooms/janus/process.ts';

/** Value for `skip`: the reason why Janus cannot run here, or false. */
export const NO_JANUS: string | false = (await janusUnavailableReason('janus')) ?? false;

/** Returns the process ID of the Janus that a platform runs; null while there is none. */
export async function janusPid(dataDir: string): Promise<number | null> {
  return (await readLink(join(dataDir, 'rooms', 'janus.json')))?.pid ?? null;
}
