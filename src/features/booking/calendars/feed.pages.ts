import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { BookingFeed } from './feed.service.ts';

const SUFFIX = '.ics';

/** `/calendars/:token`, the address of a feed (docs/concepts/booking-calendars.md#the-feed): who has it may read it. */
export function feedPage(feed: BookingFeed): (app: FastifyInstance) => void {
  return (app) => {
    app.get<{ Params: { token: string } }>('/calendars/:token', async (request, reply) => {
      const { token } = request.params;
      const text = token.endsWith(SUFFIX) ? await feed.read(token.slice(0, -SUFFIX.length)) : null;
      reply.headers({ 'Cache-Control': 'private, no-cache', 'X-Robots-Tag': 'noindex' });
      if (text === null)
        return reply.status(404).type('text/plain; charset=utf-8').send('Calendar not found.');
      const tag = `"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
      reply.headers({ ETag: tag, 'X-Content-Type-Options': 'nosniff' });
      const known = (request.headers['if-none-match'] ?? '')
        .split(',')
        .map((one) => one.trim().replace(/^W\//, ''));
      if (known.includes(tag) || known.includes('*')) return reply.status(304).send();
      return reply
        .type('text/calendar; charset=utf-8')
        .header('Content-Disposition', 'inline; filename="bookings.ics"')
        .send(text);
    });
  };
}
