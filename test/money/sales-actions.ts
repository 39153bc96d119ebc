import fc from 'fast-check';
import { insertVideo } from '../harness/videos.ts';
import type { PaymentsSimulation } from './payments-simulation.ts';

const CARDS = [
  '4242424242424242',
  '4242424242424242',
  '4000000000000341',
  '4000000000000119',
  '4000000000000002',
] as const;
const BUYERS = ['ada@example.com', 'bob@example.com', 'cas@example.com'] as const;
/** Card that is approved after the client's timeout. */
const LATE_CARD = '4000000000000119';
/** Card of a stranger who enters other people's email addresses. */
const STRANGERS_CARD = '4000000000000077';
const ADDRESSES = { successUrl: 'http://marquee.test/thanks', cancelUrl: 'http://marquee.test/' };
/** A card that is saved on the member page. */
const SAVED = { card: '4242424242424242', checkoutId: null, returnUrl: ADDRESSES.cancelUrl };
const DAY_MS = 86_400_000;

type Crash = number | null;

/** Action on tiers; `of` selects one of the existing items. */
export type SaleAction =
  | {
      do: 'checkout';
      tier: number;
      card: number;
      buyer: number;
      hasCode: boolean;
      again: boolean;
      crash: Crash;
    }
  | { do: 'buy video'; video: number; isLate: boolean; buyer: number; again: boolean; crash: Crash }
  | { do: 'stranger'; tier: number; buyer: number; with: 'card' | 'free code'; crash: Crash }
  | {
      do: 'creator';
      what: 'delete video' | 'hide video' | 'delete tier' | 'close tier' | 'reprice' | 'switch';
      of: number;
      tier: number;
      crash: Crash;
    }
  | { do: 'leave checkout'; of: number; crash: Crash }
  | {
      do: 'member';
      of: number;
      what: 'switch' | 'cancel' | 'cancel at the end' | 'resume' | 'pay' | 'use another card';
      tier: number;
      crash: Crash;
    }
  | { do: 'days'; days: number; crash: Crash };

const crash = fc.option(fc.nat({ max: 14 }), { freq: 2 });
const of = fc.nat({ max: 5 });
const is = <const V extends string>(value: V) => fc.constant(value);
const tier = fc.nat({ max: 1 });

export const sale: fc.Arbitrary<SaleAction> = fc.oneof(
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
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('buy video'),
      video: fc.nat({ max: 1 }),
      isLate: fc.boolean(),
      buyer: fc.nat({ max: BUYERS.length - 1 }),
      again: fc.boolean(),
      crash,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: is('stranger'),
      tier,
      buyer: fc.nat({ max: BUYERS.length - 1 }),
      with: fc.constantFrom('card', 'free code'),
      crash,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: is('creator'),
      what: fc.constantFrom(
        'delete video',
        'hide video',
        'delete tier',
        'close tier',
        'reprice',
        'switch',
        'switch',
      ),
      of,
      tier,
      crash,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: is('leave checkout'), of, crash }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: is('member'),
      of,
      what: fc.constantFrom(
        'switch',
        'switch',
        'cancel',
        'cancel at the end',
        'resume',
        'pay',
        'use another card',
      ),
      tier,
      crash,
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: is('days'), days: fc.constantFrom(1, 2, 31), crash }) },
);

const SALES: readonly string[] = [
  'checkout',
  'buy video',
  'stranger',
  'creator',
  'leave checkout',
  'member',
  'days',
];

export function isSaleAction(deed: { do: string }): deed is SaleAction {
  return SALES.includes(deed.do);
}

/**
 * Catalog of a workspace: two tiers with few spots, two videos, a code for one use, and one for the whole
 * price.
 */
export interface Catalog {
  workspaceId: string;
  tierIds: readonly [string, string];
  videoIds: readonly [string, string];
  code: string;
  freeCode: string;
  /** Cards that members chose for a subscription, by its id. */
  chosen: Map<string, Set<string>>;
  /** Number of sales of each video when it was withdrawn. */
  unsold: Map<string, number>;
}

export async function stock(
  { sales, database, events, payments }: PaymentsSimulation,
  workspaceId: string,
): Promise<Catalog> {
  const tier = async (name: string, priceCents: number, maxMembers: number) => {
    const { id } = await sales.tiers.create(workspaceId, { name, priceCents, interval: 'MONTH', maxMembers });
    return id;
  };
  const video = () =>
    insertVideo(database.db, workspaceId, { visibility: 'PURCHASE', price_cents: 700, status: 'READY' });
  // A member who has saved a card, and has not chosen it for any subscription.
  const who = { email: BUYERS[0], name: null };
  const { id } = await events.transaction((tx) => payments.customerFor(tx, workspaceId, who));
  const given = await sales.cards.collect(id, SAVED);
  if ('method' in given) await sales.subscriptions.saveCard(id, given.method);
  const [code, freeCode] = ['ONCE', 'FREE'];
  await sales.codes.create(workspaceId, { code, percentOff: 20, maxUses: 1 });
  await sales.codes.create(workspaceId, { code: freeCode, percentOff: 100 });
  return {
    workspaceId,
    code,
    freeCode,
    tierIds: [await tier('Supporter', 500, 2), await tier('Patron', 900, 1)],
    videoIds: [await video(), await video()],
    chosen: new Map(),
    unsold: new Map(),
  };
}

export async function sell(world: PaymentsSimulation, shelf: Catalog, deed: SaleAction): Promise<void> {
  switch (deed.do) {
    case 'checkout':
      return checkout(world, shelf, deed);
    case 'buy video':
      return buyVideo(world, shelf, deed);
    case 'stranger':
      return startMembershipAsStranger(world, shelf, deed);
    case 'creator':
      return changeCatalog(world, shelf, deed);
    case 'leave checkout':
      return leave(world, shelf, deed.of);
    case 'member':
      return member(world, shelf, deed);
    case 'days':
      world.clock.advance(deed.days * DAY_MS);
      return world.sales.subscriptions.renewals.renewDue();
  }
}

async function checkout(
  world: PaymentsSimulation,
  shelf: Catalog,
  deed: SaleAction & { do: 'checkout' },
): Promise<void> {
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

async function buyVideo(
  world: PaymentsSimulation,
  shelf: Catalog,
  deed: SaleAction & { do: 'buy video' },
): Promise<void> {
  const { checkouts, checkoutPayments } = world.sales;
  const { workspaceId, videoIds } = shelf;
  const open = deed.again ? (await idsOf(world, shelf, 'checkout')).at(-1) : undefined;
  const input = { ...ADDRESSES, videoId: videoIds[deed.video] ?? videoIds[0] };
  const id = open ?? (await checkouts.createForVideo({ workspaceId, mode: 'test' }, input)).id;
  const email = BUYERS[deed.buyer] ?? BUYERS[0];
  await checkoutPayments.pay(id, { email, card: deed.isLate ? LATE_CARD : CARDS[0] });
}

/** Starts a membership with another person's email. */
async function startMembershipAsStranger(
  world: PaymentsSimulation,
  shelf: Catalog,
  deed: SaleAction & { do: 'stranger' },
): Promise<void> {
  const { checkouts, checkoutPayments } = world.sales;
  const { workspaceId, tierIds, freeCode } = shelf;
  const isFree = deed.with === 'free code';
  const tierId = tierIds[deed.tier] ?? tierIds[0];
  const input = { ...ADDRESSES, tierId, ...(isFree ? { discountCode: freeCode } : {}) };
  const { id } = await checkouts.createForTier({ workspaceId, mode: 'test' }, input, null);
  const email = BUYERS[deed.buyer] ?? BUYERS[0];
  await checkoutPayments.pay(id, { email, card: isFree ? '' : STRANGERS_CARD });
}

/** Changes the catalog while buyers pay. */
async function changeCatalog(
  world: PaymentsSimulation,
  shelf: Catalog,
  deed: SaleAction & { do: 'creator' },
): Promise<void> {
  const { tiers, subscriptions } = world.sales;
  const { sql } = world.database;
  const { workspaceId, tierIds, videoIds } = shelf;
  const tierId = tierIds[deed.tier] ?? tierIds[0];
  if (deed.what === 'delete tier') await tiers.remove(workspaceId, tierId);
  else if (deed.what === 'close tier')
    await tiers.update(workspaceId, tierId, { isActive: deed.of % 2 === 0 });
  else if (deed.what === 'reprice') {
    const priceCents = 400 + 300 * deed.of;
    await tiers.update(workspaceId, tierId, { priceCents, migrateExisting: deed.of % 2 === 0 });
  } else if (deed.what === 'switch') {
    const id = pick(await idsOf(world, shelf, 'subscription'), deed.of);
    if (id !== undefined) await subscriptions.switchTier(workspaceId, id, { tierId, by: 'CREATOR' });
  } else {
    const id = videoIds[deed.tier] ?? videoIds[0];
    if (deed.what === 'delete video') await sql`update video set deleted_at = now() where id = ${id}`;
    else await sql`update video set visibility = 'PRIVATE' where id = ${id}`;
    const [sold] = await sql<{ count: number }[]>`
      select count(*)::int as count from checkout where video_id = ${id} and status = 'COMPLETED'`;
    if (!shelf.unsold.has(id)) shelf.unsold.set(id, sold?.count ?? 0);
  }
}

async function leave(world: PaymentsSimulation, shelf: Catalog, of: number): Promise<void> {
  const id = pick(await idsOf(world, shelf, 'checkout'), of);
  if (id === undefined) return;
  await world.sales.checkoutPayments.cancel(id);
}

async function member(
  world: PaymentsSimulation,
  shelf: Catalog,
  deed: SaleAction & { do: 'member' },
): Promise<void> {
  const { subscriptions } = world.sales;
  const { workspaceId, tierIds } = shelf;
  const id = pick(await idsOf(world, shelf, 'subscription'), deed.of);
  if (id === undefined) return;
  const by = 'MEMBER_CANCELED';
  if (deed.what === 'switch') {
    const tierId = tierIds[deed.tier] ?? tierIds[0];
    await chooseSaved(world, shelf, id);
    await subscriptions.switchTier(workspaceId, id, { tierId, by: 'MEMBER' });
  } else if (deed.what === 'resume') await subscriptions.resume(workspaceId, id);
  else if (deed.what === 'pay') {
    await chooseSaved(world, shelf, id);
    await subscriptions.renewals.payNow(workspaceId, id, { returnUrl: ADDRESSES.cancelUrl, card: null });
  } else if (deed.what === 'use another card') await useCard(world, shelf, id);
  else await subscriptions.cancel(workspaceId, id, { atPeriodEnd: deed.what === 'cancel at the end', by });
}

/** On the member page: a card is saved, and chosen for this subscription. */
async function useCard(world: PaymentsSimulation, shelf: Catalog, id: string): Promise<void> {
  const { cards, subscriptions } = world.sales;
  const { customer_id: customerId } = await subscriptions.get(shelf.workspaceId, id);
  const given = await cards.collect(customerId, SAVED);
  if ('url' in given) return;
  await subscriptions.saveCard(customerId, given.method);
  await chooseSaved(world, shelf, id);
  await subscriptions.useSavedCard(shelf.workspaceId, id);
}

/** Chooses the saved card of a present member for this subscription. */
async function chooseSaved(
  world: PaymentsSimulation,
  { workspaceId, chosen }: Catalog,
  id: string,
): Promise<void> {
  const { customer_id: customerId } = await world.sales.subscriptions.get(workspaceId, id);
  const saved = await world.payments.savedMethodOf(world.database.db, customerId);
  if (saved !== null) chosen.set(id, (chosen.get(id) ?? new Set()).add(saved.last4));
}

function pick<T>(list: readonly T[], of: number): T | undefined {
  return list[of % Math.max(1, list.length)];
}

/** Returns the IDs, oldest first, including ended ones, for which actions must be rejected. */
async function idsOf(
  world: PaymentsSimulation,
  shelf: Catalog,
  table: 'checkout' | 'subscription',
): Promise<string[]> {
  const { sql } = world.database;
  const rows = await sql<{ id: string }[]>`
    select id from ${sql(table)} where workspace_id = ${shelf.workspaceId} order by created_at, id`;
  return rows.map(({ id }) => id);
}
