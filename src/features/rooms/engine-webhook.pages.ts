import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../kernel/errors.ts';
import { type RoomEngine, WebhookRejectedError } from '../../media/contract/index.ts';

/** A message is about one room, or one person in it. */
const MAX_BYTES = 64 * 1024;

/**
 * `POST /rtc/livekit/webhook`, where a LiveKit server tells what happens in its rooms
 * (docs/guides/room-engines.md#livekit). 204, or 401 for what is not signed by it. Where the engine tells nothing, there
 * is no such page.
 */
export function roomEngineWebhookPage({ engine }: { engine: RoomEngine }): (app: FastifyInstance) => void {
  return (app) => {
    const { name, webhook } = engine;
    if (webhook === undefined) return;
    app.register(async (scope) => {
      // The signature is of the bytes, not of what they mean.
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
