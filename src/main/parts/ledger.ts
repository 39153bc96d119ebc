import { createLedger, type Ledger } from '../../features/commerce/ledger/index.ts';
import type { ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

/** The books, which everything that moves money writes. */
export function ledgerPart(base: BaseContext): ModuleWithExports<{ ledger: Ledger }> {
  return { exports: { ledger: createLedger(base) }, module: {} };
}
