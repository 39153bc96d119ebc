import { patternsOf } from '../../events/catalogue.ts';
import type { EventConsumer } from '../../events/index.ts';
import { enqueue } from './delivery/repository.ts';
import { FOR_ONE_WEBHOOK, NOT_TO_ITSELF } from './events.ts';

/** The consumer of events that plans a delivery for each webhook that subscribes, in the same transaction. */
export const enqueueDeliveries: EventConsumer = async (tx, event) => {
  if (FOR_ONE_WEBHOOK.includes(event.type)) return;
  const except = NOT_TO_ITSELF.includes(event.type) ? webhookIdOf(event.data) : null;
  await enqueue(tx, event, patternsOf(event.type), except);
};

function webhookIdOf(data: object): string | null {
  return 'webhookId' in data && typeof data.webhookId === 'string' ? data.webhookId : null;
}
