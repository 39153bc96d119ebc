import { createLedger, type Ledger } from '../../features/ledger/index.ts';
import type { Built } from '../part.ts';

/** The books, which everything that moves money writes. */
export function ledgerPart(): Built<{ ledger: Ledger }> {
  return { gives: { ledger: createLedger() }, part: {} };
}
