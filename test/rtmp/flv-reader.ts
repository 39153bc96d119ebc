import { get, type IncomingMessage } from 'node:http';
import { type FlvTag, parseFlv } from './media.ts';

export interface FlvReader {
  status: number;
  tags(): FlvTag[];
  /** Bit 0 video, bit 2 audio; null before the file header. */
  flags(): number | null;
  /** Stops reading from the socket, as a stuck process does. */
  pause(): void;
  resume(): void;
  /** Resolves at the end: true for a clean end of file. */
  ended: Promise<boolean>;
  destroy(): void;
}

/** Opens an engine's `readUrl` without ffmpeg. */
export async function openFlv(url: string): Promise<FlvReader> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { agent: false }, resolve).on('error', reject);
  });
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', () => {});
  const ended = new Promise<boolean>((resolve) => {
    response.on('close', () => resolve(response.complete));
  });
  const bytes = () => Buffer.concat(chunks);
  return {
    status: response.statusCode ?? 0,
    tags: () => (bytes().length < 13 ? [] : parseFlv(bytes()).tags),
    flags: () => (bytes().length < 13 ? null : parseFlv(bytes()).flags),
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    ended,
    destroy: () => void response.destroy(),
  };
}
