import { patternsOf } from '../../events/catalogue.ts';
import type { EventConsumer } from '../../events/index.ts';
import { enqueue } from './delivery/repository.ts';

/** The consumer of events that plans a delivery for each webhook that subscribes, in the same transaction. */
export const enqueueDeliveries: EventConsumer = (tx, event) => enqueue(tx, event, patternsOf(event.type));
