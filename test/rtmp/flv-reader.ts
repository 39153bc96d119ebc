import { type Duplex, Transform } from 'node:stream';
import type { IngestEngine, IngestSession } from '../../src/media/contract/index.ts';
import { type FlvTag, parseFlv } from './media.ts';

export interface FlvReader {
  tags(): FlvTag[];
  /** Bit 0 video, bit 2 audio; null before the file header. */
  flags(): number | null;
  /** Stops reading, as a stuck process does. */
  pause(): void;
  resume(): void;
  /** Resolves at the end: true for a clean end of file. */
  ended: Promise<boolean>;
  destroy(): void;
}

/** Reads a publish without ffmpeg. */
export function openFlv(engine: Pick<IngestEngine, 'feed'>, session: IngestSession): FlvReader {
  // Copies each chunk, because its buffer is reused after it was taken, as by a pipe of the system.
  const pipe = new Transform({ transform: (chunk, _encoding, done) => done(null, Buffer.from(chunk)) });
  engine.feed(session, pipe);
  return readFlv(pipe);
}

export function readFlv(source: Duplex): FlvReader {
  const chunks: Buffer[] = [];
  let isClean = false;
  source.on('data', (chunk: Buffer) => chunks.push(chunk));
  source.on('error', () => {});
  source.on('end', () => {
    isClean = true;
  });
  const ended = new Promise<boolean>((resolve) => {
    source.on('close', () => resolve(isClean));
  });
  const bytes = () => Buffer.concat(chunks);
  return {
    tags: () => (bytes().length < 13 ? [] : parseFlv(bytes()).tags),
    flags: () => (bytes().length < 13 ? null : parseFlv(bytes()).flags),
    pause: () => void source.pause(),
    resume: () => void source.resume(),
    ended,
    destroy: () => void source.destroy(),
  };
}
