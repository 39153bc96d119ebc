import fc from 'fast-check';
import type { MoneyWorld } from './world.ts';

const CARDS = [
  '4242424242424242',
  '4242424242424242',
  '4000000000000341',
  '4000000000000119',
  '4000000000000002',
] as const;
const BUYERS = ['ada@example.com', 'bob@example.com', 'cas@example.com'] as const;
const ADDRESSES = { successUrl: 'http://marquee.test/thanks', cancelUrl: 'http://marquee.test/' };
const DAY_MS = 86_400_000;

type Crash = number | null;

/** What becomes of tiers; `of` chooses among what there is. */
export type Sale =
  | {
      do: 'checkout';
      tier: number;
      card: number;
      buyer: number;
      hasCode: boolean;
      again: boolean;
      crash: Crash;
    }
  | { do: 'leave checkout'; of: number; crash: Crash }
  | {
      do: 'member';
      of: number;
      what: 'switch' | 'cancel' | 'cancel at the end' | 'resume' | 'pay';
      tier: number;
      crash: Crash;
    }
  | { do: 'days'; days: number; crash: Crash };

const crash = fc.option(fc.nat({ max: 14 }), { freq: 2 });
const of = fc.nat({ max: 5 });
const is = <const V extends string>(value: V) => fc.constant(value);
const tier = fc.nat({ max: 1 });

export const sale: fc.Arbitrary<Sale> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: is('checkout'),
      tier,
      card: fc.nat({ max: CARDS.length - 1 }),
      buyer: fc.nat({ max: BUYERS.length - 1 }),
      hasCode: fc.boolean(),
      again: fc.boolean(),
      crash,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('leave checkout'), of, crash }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: is('member'),
      of,
      what: fc.constantFrom('switch', 'switch', 'cancel', 'cancel at the end', 'resume', 'pay'),
      tier,
      crash,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: is('days'), days: fc.constantFrom(1, 2, 31), crash }) },
);

const SALES: readonly string[] = ['checkout', 'leave checkout', 'member', 'days'];

export function isSale(deed: { do: string }): deed is Sale {
  return SALES.includes(deed.do);
}

/** What a workspace sells: two tiers with few places, and a code that is good once. */
export interface Shelf {
  workspaceId: string;
  tierIds: readonly [string, string];
  code: string;
}

export async function stock({ sales }: MoneyWorld, workspaceId: string): Promise<Shelf> {
  const tier = async (name: string, priceCents: number, maxMembers: number) => {
    const { id } = await sales.tiers.create(workspaceId, { name, priceCents, interval: 'MONTH', maxMembers });
    return id;
  };
  const code = 'ONCE';
  await sales.codes.create(workspaceId, { code, percentOff: 20, maxUses: 1 });
  return { workspaceId, code, tierIds: [await tier('Supporter', 500, 2), await tier('Patron', 900, 1)] };
}

export async function sell(world: MoneyWorld, shelf: Shelf, deed: Sale): Promise<void> {
  switch (deed.do) {
    case 'checkout':
      return checkout(world, shelf, deed);
    case 'leave checkout':
      return leave(world, shelf, deed.of);
    case 'member':
      return member(world, shelf, deed);
    case 'days':
      world.clock.advance(deed.days * DAY_MS);
      return world.sales.subscriptions.renewals.renewDue();
  }
}

async function checkout(world: MoneyWorld, shelf: Shelf, deed: Sale & { do: 'checkout' }): Promise<void> {
  const { checkouts, checkoutPayments } = world.sales;
  const { workspaceId, tierIds } = shelf;
  const open = deed.again ? (await idsOf(world, shelf, 'checkout')).at(-1) : undefined;
  const input = {
    ...ADDRESSES,
    tierId: tierIds[deed.tier] ?? tierIds[0],
    ...(deed.hasCode ? { discountCode: shelf.code } : {}),
  };
  const made = () => checkouts.createForTier({ workspaceId, mode: 'test' }, input, null);
  const id = open ?? (await made()).id;
  const email = BUYERS[deed.buyer] ?? BUYERS[0];
  await checkoutPayments.pay(id, { email, card: CARDS[deed.card] ?? CARDS[0] });
}

async function leave(world: MoneyWorld, shelf: Shelf, of: number): Promise<void> {
  const ids = await idsOf(world, shelf, 'checkout');
  const id = ids[of % Math.max(1, ids.length)];
  if (id === undefined) return;
  await world.sales.checkoutPayments.cancel(id);
}

async function member(world: MoneyWorld, shelf: Shelf, deed: Sale & { do: 'member' }): Promise<void> {
  const { subscriptions } = world.sales;
  const { workspaceId, tierIds } = shelf;
  const ids = await idsOf(world, shelf, 'subscription');
  const id = ids[deed.of % Math.max(1, ids.length)];
  if (id === undefined) return;
  const by = 'MEMBER_CANCELED';
  if (deed.what === 'switch')
    await subscriptions.switchTier(workspaceId, id, tierIds[deed.tier] ?? tierIds[0]);
  else if (deed.what === 'resume') await subscriptions.resume(workspaceId, id);
  else if (deed.what === 'pay') await subscriptions.renewals.payNow(workspaceId, id, ADDRESSES.cancelUrl);
  else await subscriptions.cancel(workspaceId, id, { atPeriodEnd: deed.what === 'cancel at the end', by });
}

/** Oldest first; ended ones too, which are to refuse. */
async function idsOf(world: MoneyWorld, shelf: Shelf, table: 'checkout' | 'subscription'): Promise<string[]> {
  const { sql } = world.database;
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(table)} where workspace_id = ${shelf.workspaceId} order by created_at, id`;
  return rows.map(({ id }) => id);
}
