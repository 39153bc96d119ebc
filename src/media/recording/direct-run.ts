import { createWriteStream } from 'node:fs';
import { Writable } from 'node:stream';
import type { AudioInfo, VideoInfo } from '../contract/index.ts';
import type { FfmpegExit, FfmpegProcess } from '../ffmpeg/process.ts';
import { SourceMuxer } from '../protocols/fmp4/source-muxer.ts';

export interface DirectRunOptions {
  /** Feeds the run with the publish, from its last keyframe on. */
  feed: (reader: Writable) => void;
  video: VideoInfo;
  audio: AudioInfo | undefined;
  /** An empty file. */
  path: string;
  /** Called once, when it contains video. */
  onMedia: () => void;
}

/** Also the most that is lost when the program is killed. */
const PART_MS = 1000;
/** Bytes that may wait for the disk. */
const WAITING_MAX_BYTES = 2 ** 26;

/**
 * Records codecs that the local ffmpeg cannot read: frames are written to fragmented MP4 as they arrive. A
 * change of the format ends it.
 */
export function startDirectRun(options: DirectRunOptions): Pick<FfmpegProcess, 'exited' | 'stop'> {
  const { feed, video, audio, path, onMedia } = options;
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const file = createWriteStream(path, { flags: 'r+' });
  file.once('error', (error) => resolve(String(error)));
  let pieces = 0;
  const muxer = new SourceMuxer({
    picture: video,
    hasSound: audio !== undefined,
    partMs: PART_MS,
    now: () => performance.now(),
    onBytes: (bytes) => {
      file.write(bytes);
      if (file.writableLength > WAITING_MAX_BYTES) resolve('the disk is too slow');
      // The header is the first.
      pieces += 1;
      if (pieces === 2) onMedia();
    },
    onChanged: () => resolve(null),
  });
  const reader = new Writable({
    write(chunk: Buffer, _encoding, done) {
      try {
        muxer.push(chunk);
      } catch (error) {
        resolve(String(error));
      }
      done();
    },
    final(done) {
      resolve(null);
      done();
    },
  });
  feed(reader);
  const exited = promise.then(async (failure): Promise<FfmpegExit> => {
    reader.destroy();
    if (failure === null) muxer.end();
    await new Promise<void>((done) => void file.once('close', done).end());
    const failed = failure === null ? {} : { spawnError: failure };
    return { code: failure === null ? 0 : null, signal: null, stderr: '', ...failed };
  });
  const stop = () => {
    resolve(null);
    return exited;
  };
  return { exited, stop };
}
