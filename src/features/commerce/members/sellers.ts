import { formatMoney, INTERVAL_LABELS } from '../../../kernel/format-money.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Offer, PurchasableMedia, Sellers } from '../../audience/playback/index.ts';
import { listTiers, type OpenTier } from './repository.ts';
import { memberPath } from './service.ts';

/**
 * Creates the lookup of offers that grant access to a video or stream: its tiers that accept members, or its
 * own price.
 */
export function createSellers({ db }: { db: Db }): Sellers {
  return async (sold) => ({
    offers: await offersOf(db, sold),
    memberPath: memberPath({ username: sold.creator.username, mode: sold.mode }),
  });
}

async function offersOf(db: Db, sold: PurchasableMedia): Promise<Offer[]> {
  const { visibility, priceCents, tierIds, workspaceId } = sold;
  if (visibility === 'PURCHASE') {
    return priceCents === null ? [] : [{ name: 'To keep', price: formatMoney(priceCents), tierId: null }];
  }
  const tiers = await listTiers(db, workspaceId);
  return tiers.filter(({ id }) => tierIds.length === 0 || tierIds.includes(id)).map(offerOf);
}

function offerOf({ id, name, price_cents: cents, interval }: OpenTier): Offer {
  return { name, price: `${formatMoney(cents)} a ${INTERVAL_LABELS[interval]}`, tierId: id };
}
