import type { FastifyReply } from 'fastify';
import type { FileReply } from '../../../media/contract/index.ts';

/** Told how many bytes of the files of a video or stream have left. */
export interface OnBytesSent {
  add(of: { workspaceId: string; id: string }, bytes: number): void;
}

/**
 * Counts what of the body really leaves: all of it, or, where the receiver went away, what the connection had taken
 * until then, with the head of the answer.
 */
export function countEgress(
  sentBytes: OnBytesSent,
  of: { workspaceId: string; id: string },
  reply: FastifyReply,
  { headers, body }: FileReply,
): void {
  if (body === null) return;
  const { raw } = reply;
  const { socket } = raw;
  const beforeBytes = socket?.bytesWritten ?? 0;
  const length =
    typeof body === 'string' || Buffer.isBuffer(body) ? Buffer.byteLength(body) : lengthOf(headers);
  raw.once('close', () => {
    const written = Math.max(0, (socket?.bytesWritten ?? 0) - beforeBytes);
    const bytes = raw.writableFinished ? (length ?? written) : Math.min(written, length ?? written);
    if (bytes > 0) sentBytes.add(of, bytes);
  });
}

function lengthOf(headers: Record<string, string>): number | null {
  const text = headers['content-length'];
  return text === undefined ? null : Number(text);
}
