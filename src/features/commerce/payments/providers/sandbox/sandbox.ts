import { randomBytes } from 'node:crypto';
import { type Clock, dateFromMs } from '../../../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../../../kernel/durations.ts';
import type { Db } from '../../../../../platform/db/index.ts';
import {
  type ChargeRequest,
  type Decline,
  type DeclineCode,
  type FetchedDispute,
  type PaymentProvider,
  type PaymentResult,
  type ProviderEvent,
  ProviderUnavailableError,
  type RefundRequest,
  type RefundResult,
  type SavedChargeRequest,
  type SavedMethod,
  type SaveMethodRequest,
} from '../provider.ts';
import { DECLINES, TEST_CARDS, testCardOf } from './cards.ts';
import type { SandboxCard, SandboxPayment } from './repository.ts';
import * as repository from './repository.ts';

/** Sandbox provider, with the actions of people and tests that another provider leaves to a bank. */
export interface Sandbox extends PaymentProvider {
  /** Completes the second factor and returns the URL to redirect to; null when there is no such payment. */
  confirm(ref: string, passed: boolean): Promise<{ returnUrl: string } | null>;
  /** Returns the payment for the page of the second factor; null when it does not exist. */
  waiting(ref: string): Promise<SandboxPayment | null>;
  /**
   * Disputes a charge at the bank, once.
   *
   * @returns false where nothing is left to dispute.
   */
  dispute(ref: string): Promise<boolean>;
  /**
   * Decides a dispute as the bank, once.
   *
   * @returns false where no dispute is open.
   */
  decide(ref: string, outcome: 'WON' | 'LOST'): Promise<boolean>;
}

interface Deps {
  db: Db;
  clock: Clock;
  publicUrl: string;
  /** Delivers a provider event, as a webhook does. */
  tell(hint: ProviderEvent, when: 'NOW' | 'SOON'): Promise<void>;
}

const newRef = (kind: string) => `${kind}_${randomBytes(16).toString('hex')}`;
const DISPUTE = 'sbd_';
const VALID_YEARS = 4;

/**
 * Creates the built-in provider: it moves no money, and follows the test cards
 * (docs/guides/money.md#test-cards). Its tables are a provider's own record: it writes them in transactions
 * of its own, never in its caller's.
 */
export function createSandbox(deps: Deps): Sandbox {
  const ping = () => repository.ping(deps.db);
  return { ping, ...charging(deps), ...fetching(deps), ...accounts(deps), ...atTheBank(deps) };
}

type Charging = Pick<
  PaymentProvider,
  'charge' | 'chargeSaved' | 'saveMethod' | 'look' | 'cancel' | 'refund' | 'recover' | 'forgetCustomer'
>;

function charging(deps: Deps): Charging {
  const { db, clock } = deps;
  return {
    charge: (request) => charge(deps, request),
    chargeSaved: (request) => chargeSaved(deps, request),
    saveMethod: (request) => saveMethod(deps, request),
    async look({ key }) {
      const row = await repository.findByKey(db, key);
      return row === undefined ? null : answerOf(deps, row);
    },
    async cancel({ key, workspaceId }) {
      // Stored so that a request still in flight finds it canceled.
      const none = { ref: newRef('sbp'), key, workspace_id: workspaceId, amount_cents: 0 };
      const calledOff = { status: 'CANCELED', failure_code: 'CANCELED', created_at: clock.now() } as const;
      const row = await repository.insertPayment(db, { ...none, ...calledOff });
      if (row !== undefined) return answerOf(deps, row);
      const held = await keyed(db, key);
      const ended = await repository.endAction(db, held.ref, {
        status: 'CANCELED',
        failure_code: isOver(deps, held) ? 'EXPIRED' : 'CANCELED',
      });
      return answerOf(deps, ended ?? (await keyed(db, key)));
    },
    refund: (request) => refund(deps, request),
    // All creators share one account.
    recover: () => Promise.resolve(true),
    // Its rows identify customers only by our ID.
    forgetCustomer: () => Promise.resolve(),
  };
}

async function keyed(db: Db, key: string): Promise<SandboxPayment> {
  const row = await repository.findByKey(db, key);
  if (row === undefined) throw new Error('the sandbox has lost a payment');
  return row;
}

async function charge(deps: Deps, request: ChargeRequest): Promise<PaymentResult> {
  const { db } = deps;
  const saved = request.savedRef === null ? undefined : await repository.findCard(db, request.savedRef);
  const card = testCardOf(request.card ?? saved?.card ?? null);
  // Other numbers do not get this far; the number is neither stored nor shown.
  if (card === null) return declined(null, 'CARD_DECLINED');
  const does = TEST_CARDS[card]?.charge;
  const row = await db.transaction().execute(async (tx) => {
    const kept = request.saveMethod ? await storeCard(deps, tx, request, card) : null;
    return repository.insertPayment(tx, {
      ...newPayment(deps, request, card, does),
      card_ref: kept?.ref ?? null,
      expires_at: request.expiresAt,
      return_url: request.returnUrl,
    });
  });
  if (row === undefined) return answerOf(deps, await keyed(db, request.key));
  return afterwards(deps, row, does);
}

async function chargeSaved(deps: Deps, request: SavedChargeRequest): Promise<PaymentResult> {
  const card = await repository.findCard(deps.db, request.methodRef);
  if (card?.customer_id !== request.customer.id) return declined(null, 'CARD_MISSING');
  const { charge: onPage, saved = onPage } = TEST_CARDS[card.card] ?? {};
  const does = saved === 'PAYS' ? undefined : saved;
  const row = await repository.insertPayment(deps.db, newPayment(deps, request, card.card, does));
  if (row === undefined) return answerOf(deps, await keyed(deps.db, request.key));
  return afterwards(deps, row, does);
}

type CardBehavior = (typeof TEST_CARDS)[string]['charge'];

function newPayment(
  { clock }: Deps,
  request: SavedChargeRequest | ChargeRequest,
  card: string,
  does: CardBehavior,
) {
  const declines = typeof does === 'object' ? does.declines : null;
  const status = declines !== null ? 'FAILED' : does === 'ACTION' ? 'ACTION' : 'SUCCEEDED';
  return {
    ref: newRef('sbp'),
    key: request.key,
    workspace_id: request.workspaceId,
    amount_cents: request.amountCents,
    fee_cents: request.feeCents,
    description: request.description,
    status,
    card,
    failure_code: declines,
    created_at: clock.now(),
  } as const;
}

/** Performs the remaining behavior of the card, once the payment is recorded. */
async function afterwards(deps: Deps, row: SandboxPayment, does: CardBehavior): Promise<PaymentResult> {
  const hint = { id: `${row.ref}:1`, kind: 'PAYMENT' as const, objectRef: row.ref, accountRef: null };
  if (does === 'TWICE') {
    await deps.tell(hint, 'NOW');
    await deps.tell(hint, 'NOW');
  }
  if (does === 'DISPUTE') await dispute(deps, row.ref);
  if (does === 'LATE') throw new ProviderUnavailableError('the sandbox payment timed out');
  return answerOf(deps, row);
}

/** Stores the card for later charges; idempotent per key. */
async function storeCard(
  { clock }: Deps,
  db: Db,
  request: Pick<ChargeRequest, 'key' | 'workspaceId' | 'customer'>,
  card: string,
): Promise<SandboxCard | undefined> {
  const kept = await repository.insertCard(db, {
    ref: newRef('sbm'),
    key: request.key,
    workspace_id: request.workspaceId,
    customer_id: request.customer.id,
    card,
    created_at: clock.now(),
  });
  return kept ?? repository.findCardByKey(db, request.key);
}

async function saveMethod(deps: Deps, request: SaveMethodRequest): Promise<PaymentResult> {
  const card = testCardOf(request.card);
  if (card === null) return declined(null, 'CARD_DECLINED');
  const does = TEST_CARDS[card]?.charge;
  if (typeof does === 'object') return declined(null, does.declines);
  const kept = await storeCard(deps, deps.db, request, card);
  if (kept === undefined) throw new Error('the sandbox has lost a card');
  return { status: 'SUCCEEDED', ref: kept.ref, method: methodOf(kept) };
}

function methodOf({ ref, card, customer_id: customerId, created_at: keptAt }: SandboxCard): SavedMethod {
  const expYear = keptAt.getUTCFullYear() + VALID_YEARS;
  return {
    customerRef: `sbc_${customerId}`,
    methodRef: ref,
    brand: 'visa',
    last4: card.slice(-4),
    expMonth: 12,
    expYear,
  };
}

const isOver = ({ clock }: Deps, { expires_at: expiresAt }: SandboxPayment) =>
  expiresAt !== null && expiresAt.getTime() <= clock.ms();

async function answerOf(deps: Deps, row: SandboxPayment): Promise<PaymentResult> {
  const { ref, status, failure_code: code } = row;
  if (status === 'ACTION') {
    if (isOver(deps, row)) return declined(ref, 'EXPIRED');
    return { status, ref, url: `${deps.publicUrl}/sandbox/confirm/${ref}` };
  }
  if (status !== 'SUCCEEDED') return declined(ref, isDecline(code) ? code : 'PROVIDER_ERROR');
  const kept = row.card_ref === null ? undefined : await repository.findCard(deps.db, row.card_ref);
  return { status, ref, method: kept === undefined ? null : methodOf(kept) };
}

function isDecline(code: string | null): code is DeclineCode {
  return code !== null && code in DECLINES;
}

function declined(ref: string | null, code: DeclineCode): Decline {
  return { status: 'FAILED', ref, code, message: DECLINES[code] };
}

async function refund({ db, clock }: Deps, request: RefundRequest): Promise<RefundResult> {
  return db.transaction().execute(async (tx) => {
    const payment = await repository.lockByRef(tx, request.ref);
    const known = await repository.findRefundByKey(tx, request.key);
    if (known !== undefined) return { status: 'SUCCEEDED', ref: known.ref };
    const left = payment?.status === 'SUCCEEDED' ? payment.amount_cents - payment.refunded_cents : 0;
    const isDisputed = payment?.dispute_status === 'OPEN' || payment?.dispute_status === 'LOST';
    if (isDisputed || request.amountCents > left) return declined(null, 'REFUND_REFUSED');
    const made = await repository.insertRefund(tx, {
      ref: newRef('sbr'),
      key: request.key,
      payment_ref: request.ref,
      amount_cents: request.amountCents,
      created_at: clock.now(),
    });
    const refundedCents = (payment?.refunded_cents ?? 0) + request.amountCents;
    await repository.updatePayment(tx, request.ref, { refunded_cents: refundedCents });
    return { status: 'SUCCEEDED', ref: made.ref };
  });
}

type AtTheBank = Pick<Sandbox, 'confirm' | 'waiting' | 'dispute' | 'decide'>;

function atTheBank(deps: Deps): AtTheBank {
  const { db } = deps;
  return {
    waiting: async (ref) => (await repository.findByRef(db, ref)) ?? null,
    async confirm(ref, passed) {
      const row = await repository.findByRef(db, ref);
      if (row?.return_url == null) return null;
      const end = passed
        ? ({ status: 'SUCCEEDED', failure_code: null } as const)
        : ({ status: 'FAILED', failure_code: 'AUTHENTICATION_FAILED' } as const);
      const ended = isOver(deps, row) ? undefined : await repository.endAction(db, ref, end);
      if (ended !== undefined) {
        await deps.tell({ id: `${ref}:1`, kind: 'PAYMENT', objectRef: ref, accountRef: null }, 'SOON');
      }
      return { returnUrl: row.return_url };
    },
    dispute: (ref) => dispute(deps, ref),
    async decide(ref, outcome) {
      if (!(await repository.decideDispute(db, ref, outcome))) return false;
      await tellDispute(deps, ref, outcome);
      return true;
    },
  };
}

async function dispute(deps: Deps, ref: string): Promise<boolean> {
  if (!(await repository.openDispute(deps.db, ref))) return false;
  await tellDispute(deps, ref, 'OPEN');
  return true;
}

function tellDispute({ tell }: Deps, ref: string, what: string): Promise<void> {
  const objectRef = `${DISPUTE}${ref}`;
  return tell({ id: `${objectRef}:${what}`, kind: 'DISPUTE', objectRef, accountRef: null }, 'SOON');
}

type Fetching = Pick<
  PaymentProvider,
  | 'name'
  | 'readWebhook'
  | 'toldSince'
  | 'fetchPayment'
  | 'fetchRefund'
  | 'fetchDispute'
  | 'fetchPayout'
  | 'payoutsSince'
  | 'payOut'
  | 'fetchMethod'
>;

function fetching(deps: Deps): Fetching {
  const { db } = deps;
  return {
    name: 'SANDBOX',
    // Its events arrive by a function call.
    readWebhook: () => Promise.resolve(null),
    toldSince: () => Promise.resolve([]),
    async fetchPayment({ ref }) {
      const row = await repository.findByRef(db, ref);
      return row === undefined ? null : { key: row.key, answer: await answerOf(deps, row) };
    },
    async fetchRefund({ ref }) {
      const row = await repository.findRefund(db, ref);
      if (row === undefined) return null;
      const { key, payment_ref: paymentRef, amount_cents: amountCents } = row;
      return { key, paymentRef, amountCents, isCreators: true, answer: { status: 'SUCCEEDED', ref } };
    },
    async fetchDispute({ ref }): Promise<FetchedDispute | null> {
      const row = await repository.findByRef(db, ref.slice(DISPUTE.length));
      if (row === undefined || row.dispute_status === null) return null;
      const { ref: paymentRef, amount_cents: amount, refunded_cents: refunded, dispute_status: status } = row;
      return { paymentRef, amountCents: amount - refunded, status, reason: 'fraudulent' };
    },
    // Its payouts are made here (docs/guides/money.md#payouts).
    fetchPayout: () => Promise.resolve(null),
    payoutsSince: () => Promise.resolve([]),
    payOut: () =>
      Promise.resolve({ status: 'REFUSED', message: 'Sandbox payouts are made from the ledger.' }),
    async fetchMethod({ ref }) {
      const row = await repository.findCard(db, ref);
      return row === undefined ? null : { customerId: row.customer_id, method: methodOf(row), usedFor: null };
    },
  };
}

type Accounts = Pick<PaymentProvider, 'createAccount' | 'accountState' | 'onboardingLink' | 'dashboardLink'>;

const LINK_MS = 5 * MINUTE_MS;

/** Returns the account operations: every account is complete from the start. */
function accounts({ clock, publicUrl }: Deps): Accounts {
  return {
    createAccount: ({ workspaceId }) => Promise.resolve(`sba_${workspaceId}`),
    accountState: () =>
      Promise.resolve({
        chargesEnabled: true,
        payoutsEnabled: true,
        detailsSubmitted: true,
        requirementsDue: [],
        country: 'US',
      }),
    onboardingLink: () =>
      Promise.resolve({ url: `${publicUrl}/sandbox/account`, expiresAt: dateFromMs(clock.ms() + LINK_MS) }),
    dashboardLink: () => Promise.resolve({ url: `${publicUrl}/sandbox/account` }),
  };
}
