import type { FastifyReply } from 'fastify';
import type { FileReply } from '../../../media/contract/index.ts';

/** Receiver of the bytes sent for the files of a video or stream. */
export interface OnBytesSent {
  add(of: { workspaceId: string; id: string }, bytes: number): void;
}

/**
 * Counts the sent bytes of the body: all of it, or, after an aborted connection, the bytes it had accepted,
 * including the response head.
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
