import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { PurchaseRow } from '../../src/features/commerce/payments/repository.ts';
import { AppError } from '../../src/kernel/errors.ts';
import { newId } from '../../src/kernel/ids.ts';
import { insertAccount } from '../harness/factories.ts';
import { moneyIn } from '../harness/money-fields.ts';
import { assertAgreed } from './agreed.ts';
import { assertConsistent } from './invariants.ts';
import { Crash, type PaymentsSimulation } from './payments-simulation.ts';
import { type Catalog, isSaleAction, type SaleAction, sale, sell, stock } from './sales-actions.ts';

const MINUTE_MS = 60_000;
const CARDS = [
  '4242424242424242',
  '4000000000000002',
  '4000000000000259',
  '4000000000000341',
  '4000000000000119',
  '4000000000000077',
] as const;

/**
 * Action of buyers, creators, banks or time; `of` selects an existing item, `crash` kills the program after
 * this number of steps.
 */
type Action =
  | { do: 'pay'; card: number; cents: number; again: boolean; crash: number | null }
  | { do: 'renew'; crash: number | null }
  | { do: 'refund'; of: number; percent: number; repeat: boolean; crash: number | null }
  | { do: 'dispute'; of: number }
  | { do: 'decide'; of: number; outcome: 'WON' | 'LOST' }
  | { do: 'hear'; of: number; times: number; crash: number | null }
  | { do: 'wait'; minutes: number; crash: number | null }
  | SaleAction;

const crash = fc.option(fc.nat({ max: 9 }), { freq: 2 });
const of = fc.nat({ max: 20 });
const is = <const V extends string>(value: V) => fc.constant(value);

export const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        do: is('pay'),
        card: fc.nat({ max: CARDS.length - 1 }),
        cents: fc.integer({ min: 50, max: 100_000 }),
        again: fc.boolean(),
        crash,
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: is('renew'), crash }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: is('refund'),
        of,
        percent: fc.integer({ min: 1, max: 100 }),
        repeat: fc.boolean(),
        crash,
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: is('dispute'), of }) },
    { weight: 2, arbitrary: fc.record({ do: is('decide'), of, outcome: fc.constantFrom('WON', 'LOST') }) },
    { weight: 3, arbitrary: fc.record({ do: is('hear'), of, times: fc.integer({ min: 1, max: 2 }), crash }) },
    { weight: 2, arbitrary: fc.record({ do: is('wait'), minutes: fc.integer({ min: 1, max: 90 }), crash }) },
    { weight: 12, arbitrary: sale },
  ),
  { minLength: 1, maxLength: 7 },
);

const BUYS = { do: 'checkout', card: 0, buyer: 0, hasCode: false, again: false, crash: null } as const;
const LATE_FILM = { do: 'buy video', video: 0, isLate: true, buyer: 1, again: false, crash: null } as const;
const CREATOR = { do: 'creator', of: 0, crash: null } as const;

/** Known abuses by strangers and creators, always tested first. */
export const ATTACKS: [Action[]][] = [
  // A membership that a stranger started for free is switched to an expensive tier.
  [
    [
      { do: 'stranger', tier: 0, buyer: 0, with: 'free code', crash: null },
      { ...CREATOR, what: 'switch', tier: 1 },
      { do: 'days', days: 31, crash: null },
    ],
  ],
  // A stranger pays with a member's email, whose membership is then renewed.
  [
    [
      { ...BUYS, tier: 0 },
      { do: 'stranger', tier: 1, buyer: 0, with: 'card', crash: null },
      { do: 'days', days: 31, crash: null },
    ],
  ],
  // A product is withdrawn after it was paid.
  [[LATE_FILM, { ...CREATOR, what: 'delete video', tier: 0 }]],
  [[LATE_FILM, { ...CREATOR, what: 'hide video', tier: 0 }]],
  [
    [
      { ...BUYS, card: 3, tier: 0 },
      { ...CREATOR, what: 'delete tier', tier: 0 },
    ],
  ],
  // An upgrade is refunded in full, while the next one is on its way.
  [
    [
      { ...BUYS, tier: 0 },
      { do: 'member', of: 0, what: 'switch', tier: 1, crash: null },
      { do: 'refund', of: 1, percent: 100, repeat: false, crash: null },
      { do: 'days', days: 31, crash: null },
    ],
  ],
];

/**
 * Plays a sequence in a separate workspace, lets all work finish, and asserts that the state is consistent.
 */
export async function play(world: PaymentsSimulation, sequence: readonly Action[]): Promise<void> {
  const { test: workspaceId } = await insertAccount(world.database.db);
  world.hints.length = 0;
  world.crashAfter(null);
  const customer = await world.events.transaction((tx) =>
    world.payments.customerFor(tx, workspaceId, { email: 'ada@example.com', name: 'Ada' }),
  );
  const shelf = sequence.some(isSaleAction) ? await stock(world, workspaceId) : null;
  const scene = { ...world, workspaceId, customerId: customer.id, shelf };
  for (const deed of sequence) {
    world.crashAfter('crash' in deed ? deed.crash : null);
    await survive(() => act(scene, deed));
  }
  world.crashAfter(null);
  await rest(scene);
  await assertConsistent(world.database.sql, workspaceId);
  if (shelf !== null) await assertAgreed(world.database.sql, shelf);
  // Later sequences must not renew these subscriptions when they advance the clock.
  await world.database.sql`update subscription set next_charge_at = null where workspace_id = ${workspaceId}`;
  assert.deepEqual(moneyIn(world.lines.splice(0)), [], 'no amount is logged');
}

interface Scene extends PaymentsSimulation {
  workspaceId: string;
  customerId: string;
  /** Null if nothing is sold. */
  shelf: Catalog | null;
}

/** Performs an action. Rejections are valid results, and crashes are intended. */
async function survive(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (!(error instanceof Crash) && !(error instanceof AppError && error.status !== 500)) throw error;
  }
}

async function act(scene: Scene, deed: Action): Promise<void> {
  if (isSaleAction(deed)) {
    if (scene.shelf !== null) await sell(scene, scene.shelf, deed);
    if (deed.do === 'days') await work(scene);
    return;
  }
  switch (deed.do) {
    case 'pay':
      return pay(scene, deed);
    case 'renew':
      return charge(scene, { card: null, cents: 700, purchaseId: null });
    case 'refund':
      return refund(scene, deed);
    case 'dispute':
      return dispute(scene, deed.of);
    case 'decide':
      return decide(scene, deed);
    case 'hear':
      return hear(scene, deed);
    case 'wait':
      scene.clock.advance(deed.minutes * MINUTE_MS);
      return work(scene);
  }
}

async function pay(scene: Scene, { card, cents, again }: Action & { do: 'pay' }): Promise<void> {
  const open = again ? (await purchases(scene, 'PENDING')).at(0) : undefined;
  const number = CARDS[card] ?? CARDS[0];
  const price = open?.amount_cents ?? cents;
  await charge(scene, { card: number, cents: price, purchaseId: open?.id ?? null });
}

async function charge(
  { payments, events, database, workspaceId, customerId }: Scene,
  { card, cents, purchaseId }: { card: string | null; cents: number; purchaseId: string | null },
): Promise<void> {
  const pages = { returnUrl: 'http://marquee.test/', cancelUrl: 'http://marquee.test/' };
  const method = card === null ? await savedCard(database, customerId) : null;
  const { paymentId } = await events.transaction((tx, append) =>
    payments.begin(tx, append, {
      workspaceId,
      customerId,
      kind: 'VIDEO',
      videoId: 'vid_film',
      purchaseId,
      amountCents: cents,
      discountCents: 0,
      discountCode: null,
      description: 'A film',
      key: newId('chk'),
      method,
      onSession: card === null ? null : { card, ...pages, saveMethod: true },
    }),
  );
  await payments.settle(paymentId);
}

/** Returns the card that a customer last saved. */
async function savedCard({ db }: PaymentsSimulation['database'], customerId: string) {
  const row = await db
    .selectFrom('payment')
    .innerJoin('purchase', 'purchase.id', 'payment.purchase_id')
    .select('payment.payment_method')
    .where('purchase.customer_id', '=', customerId)
    .where('payment.status', '=', 'SUCCEEDED')
    .where('payment.payment_method', 'is not', null)
    .orderBy('payment.settled_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row?.payment_method ?? null;
}

async function refund(scene: Scene, { of, percent, repeat }: Action & { do: 'refund' }): Promise<void> {
  const { payments, events, workspaceId } = scene;
  const purchase = pick(await purchases(scene, 'PAID', 'PARTIALLY_REFUNDED', 'DISPUTED'), of);
  if (purchase === undefined) return;
  const amountCents = Math.max(1, Math.floor((purchase.amount_cents * percent) / 100));
  const order = { workspaceId, purchaseId: purchase.id, amountCents, reason: null };
  const requestId = repeat ? 'the same' : newId('pay');
  const { paymentId } = await events.transaction((tx) => payments.refund(tx, { ...order, requestId }));
  await payments.settle(paymentId);
}

async function dispute({ sandbox, database, workspaceId }: Scene, of: number): Promise<void> {
  const rows = await database.sql<{ ref: string }[]>`
    select ref from sandbox_payment where workspace_id = ${workspaceId} and status = 'SUCCEEDED'
      and dispute_status is null and refunded_cents < amount_cents order by created_at, ref`;
  const row = pick(rows, of);
  if (row !== undefined) await sandbox.dispute(row.ref);
}

async function decide(
  { sandbox, database, workspaceId }: Scene,
  { of, outcome }: Action & { do: 'decide' },
): Promise<void> {
  const rows = await database.sql<{ ref: string }[]>`
    select ref from sandbox_payment where workspace_id = ${workspaceId} and dispute_status = 'OPEN'
    order by created_at, ref`;
  const row = pick(rows, of);
  if (row !== undefined) await sandbox.decide(row.ref, outcome);
}

/** Delivers hints in any order, and more than once; processed ones may be repeated. */
async function hear({ hints, payments }: Scene, { of, times }: Action & { do: 'hear' }): Promise<void> {
  const hint = pick(hints, of);
  if (hint === undefined) return;
  for (let n = 0; n < times; n++) await payments.hints.receive('SANDBOX', hint);
}

async function work({ payments, sales }: Scene): Promise<void> {
  await payments.reconcile();
  await payments.hints.run();
  await sales.checkoutPayments.sweep();
  await sales.subscriptions.letters.send();
  await sales.subscriptions.renewals.renewDue();
}

const ROUNDS = 40;

async function rest(scene: Scene): Promise<void> {
  const { hints, payments, clock, database, workspaceId } = scene;
  for (let round = 0; round < ROUNDS; round++) {
    await work(scene);
    // Twice, and the newest first.
    for (const hint of [...hints.toReversed(), ...hints.splice(0)]) {
      await payments.hints.receive('SANDBOX', hint);
    }
    const [open] = await database.sql<{ count: string }[]>`
      select (select count(*) from payment where workspace_id = ${workspaceId} and status = 'PENDING' and type <> 'DISPUTE')
        + (select count(*) from checkout where workspace_id = ${workspaceId} and reserved_until is not null)
        + (select count(*) from provider_event where handled_at is null) as count`;
    if (Number(open?.count) === 0) return;
    clock.advance(20 * MINUTE_MS);
  }
  assert.fail('payments or hints are still open');
}

function purchases(
  { database, workspaceId }: Scene,
  ...statuses: PurchaseRow['status'][]
): Promise<PurchaseRow[]> {
  return database.db
    .selectFrom('purchase')
    .selectAll()
    .where('workspace_id', '=', workspaceId)
    .where('status', 'in', statuses)
    .orderBy('id')
    .execute();
}

function pick<T>(list: readonly T[], of: number): T | undefined {
  return list[of % Math.max(1, list.length)];
}
