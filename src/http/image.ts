import type { FastifyReply } from 'fastify';

/** Sends an image with an ID of its own; a removed one must disappear from caches, too. */
export function sendImage(
  reply: FastifyReply,
  type: 'image/webp' | 'image/jpeg',
  image: Uint8Array,
): FastifyReply {
  reply.headers({
    'Content-Type': type,
    'Cache-Control': 'public, max-age=300, must-revalidate',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'cross-origin',
  });
  return reply.send(Buffer.from(image));
}
