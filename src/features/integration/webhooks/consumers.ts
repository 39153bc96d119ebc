import { patternsOf } from '../../../events/catalogue.ts';
import { isEvent, onAny, type StoredEvent } from '../../../events/index.ts';
import { enqueue } from './delivery/repository.ts';
import { webhookFailing, webhookSecretRotated, webhookTest } from './events.ts';

/** The consumer of events that plans a delivery for each webhook that subscribes, in the same transaction. */
export const enqueueDeliveries = onAny(async (tx, event) => {
  if (isEvent(event, webhookTest)) return;
  await enqueue(tx, event, patternsOf(event.type), subjectWebhookOf(event));
});

/** Returns the webhook that is the subject of the event and must not receive it, or null. */
function subjectWebhookOf(event: StoredEvent): string | null {
  const isOfItself = isEvent(event, webhookFailing) || isEvent(event, webhookSecretRotated);
  return isOfItself ? event.data.webhookId : null;
}
