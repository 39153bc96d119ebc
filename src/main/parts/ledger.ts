import { createLedger, type Ledger } from '../../features/ledger/index.ts';
import type { Built } from '../part.ts';
import type { Base } from '../wiring.ts';

/** The books, which everything that moves money writes. */
export function ledgerPart(base: Base): Built<{ ledger: Ledger }> {
  return { gives: { ledger: createLedger(base) }, part: {} };
}
