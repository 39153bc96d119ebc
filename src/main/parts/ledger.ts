import { createLedger, type Ledger } from '../../features/ledger/index.ts';
import type { ModuleWithExports } from '../part.ts';
import type { BaseContext } from '../wiring.ts';

/** The books, which everything that moves money writes. */
export function ledgerPart(base: BaseContext): ModuleWithExports<{ ledger: Ledger }> {
  return { exports: { ledger: createLedger(base) }, module: {} };
}
