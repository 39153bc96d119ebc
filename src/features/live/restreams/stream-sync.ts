import * as repository from './repository.ts';
import { type Change, reconcile } from './transitions.ts';

/**
 * Brings the restreams of a stream in line with it in the transaction that has changed its signal or its broadcast,
 * under its lock. A sweep alone would not see a broadcast that ends and begins again between two looks.
 */
export async function syncWithStream(change: Change, streamId: string): Promise<void> {
  for (const row of await repository.restreamsOfStream(change.tx, streamId)) await reconcile(change, row);
}
