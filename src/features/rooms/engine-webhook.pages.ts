import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { type RoomEngine, WebhookRejectedError } from '../../media/contract/index.ts';

/** Maximum size of a message, which describes one room or one participant. */
const MAX_BYTES = 64 * 1024;

/**
 * Registers `POST /rtc/livekit/webhook`, which receives the room events of a LiveKit server
 * (docs/guides/room-engines.md#livekit). Returns 204, or 401 without a valid signature. An engine without
 * webhooks has no such page.
 */
export function roomEngineWebhookPage({ engine }: { engine: RoomEngine }): (app: FastifyInstance) => void {
  return (app) => {
    const { name, webhook } = engine;
    if (webhook === undefined) return;
    app.register(async (scope) => {
      // The signature covers the raw bytes, not the parsed value.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: MAX_BYTES }, (_request, body, done) =>
        done(null, body),
      );
      scope.post(`/rtc/${name}/webhook`, async (request: FastifyRequest, reply) => {
        const { body, headers } = request;
        try {
          await webhook.receive(typeof body === 'string' ? body : '', headers.authorization);
        } catch (error) {
          if (!(error instanceof WebhookRejectedError)) throw error;
          throw new AppError('UNAUTHORIZED', { message: error.message });
        }
        return reply.status(204).send();
      });
    });
  };
}
