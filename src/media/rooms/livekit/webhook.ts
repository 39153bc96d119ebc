import { WebhookReceiver } from 'livekit-server-sdk';
import { type EngineWebhook, WebhookRejectedError } from '../engine.ts';
import type { LivekitServer } from './api.ts';
import { identityOf, isHiddenParticipant } from './identities.ts';

/**
 * Creates the receiver of LiveKit's webhooks, which only signal that a room has changed. Details are queried
 * from the server, because webhooks arrive late, twice, or not at all.
 *
 * @param onChange called with the room, and the identity of a joined participant, else null.
 */
export function createLivekitWebhook(
  { apiKey, apiSecret }: LivekitServer,
  onChange: (room: string, joined: string | null) => void,
): EngineWebhook {
  const receiver = new WebhookReceiver(apiKey, apiSecret);
  return {
    async receive(body, authorization) {
      if (authorization === undefined)
        throw new WebhookRejectedError('The message is not signed: it has no Authorization header.');
      const event = await receiver.receive(body, authorization).catch(() => {
        throw new WebhookRejectedError('Invalid signature: the key, secret, clock or body does not match.');
      });
      const { room, participant } = event;
      if (room === undefined || room.name === '') return;
      if (participant !== undefined && isHiddenParticipant(participant)) return;
      const isJoin = event.event === 'participant_joined' && participant !== undefined;
      onChange(room.name, isJoin ? identityOf(participant) : null);
    },
  };
}
