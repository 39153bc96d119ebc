import type { Db } from '../../platform/db/index.ts';

/** @param which `bookable`: one that was not canceled; `any`: canceled ones too. */
export async function hasCohort(db: Db, productId: string, which: 'bookable' | 'any'): Promise<boolean> {
  const row = await db
    .selectFrom('cohort')
    .select('id')
    .where('product_id', '=', productId)
    .$if(which === 'bookable', (query) => query.where('status', '!=', 'CANCELED'))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
