import * as repository from './repository.ts';
import { type Change, reconcile } from './transitions.ts';

/**
 * Reconciles the restreams of a stream in the transaction that changed its signal or its broadcast, under its
 * lock. The sweep would miss a broadcast that ends and begins again between two runs.
 */
export async function syncWithStream(change: Change, streamId: string): Promise<void> {
  for (const row of await repository.restreamsOfStream(change.tx, streamId)) await reconcile(change, row);
}
