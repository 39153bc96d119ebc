import { newId } from '../../src/kernel/ids.ts';
import type { Container } from '../../src/main/container.ts';

/** Inserts rows of a past booking of the product. */
export async function bookedOnce({ sql }: Container, productId: string): Promise<void> {
  await sql`insert into booking (id, workspace_id, product_id, type, status, starts_at, ends_at, timezone,
      customer_name, customer_email, amount_cents, created_at, updated_at)
    select ${newId('bkg')}, workspace_id, id, 'ONE_TO_ONE', 'COMPLETED', created_at, created_at, 'UTC',
      'Ada', 'ada@example.com', 0, created_at, created_at from booking_product where id = ${productId}`;
}
