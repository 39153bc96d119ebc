import { mkdir, rename, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { dateFromMs } from '../../src/kernel/clock.ts';
import type { TestApp } from '../harness/app.ts';
import type { TestClock } from '../harness/clock.ts';
import { createEncoderStream } from './encoder-stream.ts';

const SEGMENT = Buffer.alloc(1000, 7);
const SEGMENT_MS = 2000;

/** A stream with a signal and three segments of two seconds, the last of which has just ended. */
export async function createPackagedStream(
  { app, key, clock }: { app: TestApp; key: string; clock: TestClock },
  settings: object = {},
) {
  const stream = await createEncoderStream(app, key, settings);
  const session = await stream.connect();
  const dir = join(app.container.config.DATA_DIR, 'live', stream.id);
  const folder = join(dir, 'e1', 'src');
  await mkdir(folder, { recursive: true });
  const lines = ['#EXTM3U', '#EXT-X-VERSION:7', '#EXT-X-TARGETDURATION:2', '#EXT-X-MEDIA-SEQUENCE:0'];
  lines.push('#EXT-X-DISCONTINUITY-SEQUENCE:0', '#EXT-X-MAP:URI="../e1/src/init.mp4"');
  let index = 0;
  /** One more segment, which has ended now. */
  const add = async (endMs = clock.ms()) => {
    const startMs = endMs - SEGMENT_MS;
    const name = `s_00000${index++}.m4s`;
    lines.push(`#EXT-X-PROGRAM-DATE-TIME:${dateFromMs(startMs).toISOString()}`, '#EXTINF:2.000000,');
    lines.push(`../e1/src/${name}`);
    await writeFile(join(folder, name), SEGMENT);
    await utimes(join(folder, name), dateFromMs(endMs), dateFromMs(endMs));
    // Replaced atomically, as the composer does.
    await writeFile(join(dir, 'new'), `${lines.join('\n')}\n`);
    await rename(join(dir, 'new'), join(dir, 'src.m3u8'));
  };
  for (const before of [2, 1, 0]) await add(clock.ms() - before * SEGMENT_MS);
  await writeFile(join(folder, 'init.mp4'), 'init');
  await writeFile(join(dir, 'master.m3u8'), '#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nsrc/index.m3u8\n');
  const url = (path: string) => `${app.url}/live/${stream.id}/${path}`;
  return { ...stream, session, add, get: (path: string, init: RequestInit = {}) => fetch(url(path), init) };
}
