import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import { type Clock, dateFromText } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { discountCodeExhausted, discountCodeExpired } from './events.ts';
import type { DiscountCodeChange, DiscountCodeRow } from './repository.ts';
import * as repository from './repository.ts';
import { assertOneDiscount, discountOf, normalizeCode, parseCode, statusOf } from './rules.ts';
import type { DiscountCodeIn, DiscountCodePatch } from './schemas.ts';

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  /** Reports whether the product belongs to the workspace. */
  hasProduct(db: Db, workspaceId: string, productId: string): Promise<boolean>;
}

/** Discount of a code on an item for sale. */
export interface Quote {
  id: string;
  code: string;
  discountCents: number;
}

/** Item being bought: `productId` is null for tiers and videos. */
export interface DiscountTarget {
  priceCents: number;
  productId: string | null;
}

/** Discount codes of a workspace (docs/concepts/discount-codes.md). An id that is not the workspace's is NOT_FOUND. */
export interface DiscountCodes {
  /**
   * @throws {AppError} BAD_REQUEST, field `percentOff`, unless exactly one discount is set; CONFLICT, field
   *   `code`, for an existing code; NOT_FOUND for a product of another workspace.
   */
  create(workspaceId: string, input: DiscountCodeIn): Promise<DiscountCodeRow>;
  list(workspaceId: string, page: PageRequest): Promise<DiscountCodeRow[]>;
  /**
   * @throws {AppError} as `create`; CONFLICT for fields that are fixed once the code was used; BAD_REQUEST,
   *   field `maxUses`, for less than the current number of uses.
   */
  update(workspaceId: string, id: string, input: DiscountCodePatch): Promise<DiscountCodeRow>;
  remove(workspaceId: string, id: string): Promise<void>;
  /**
   * Returns the current discount of a code; nothing is reserved.
   *
   * @param text as it was typed.
   * @throws {AppError} CONFLICT, field `discountCode`, with the reason, for an invalid code.
   */
  quote(workspaceId: string, text: string, sold: DiscountTarget): Promise<Quote>;
  /**
   * Prevents the deletion of the quoted code until the transaction ends.
   *
   * @throws {AppError} CONFLICT, as `quote`, when it is deleted by now.
   */
  keep(tx: Tx, quoted: Quote): Promise<void>;
  uses: CodeRedemptions;
  /** Emits the events of expired codes. */
  tellExpired(): Promise<void>;
}

/** Uses of a code, in the transaction that reserves or releases them. */
export interface CodeRedemptions {
  /**
   * Prevents the deletion of an existing code until the transaction ends. Callers that lock rows naming the
   * code lock the code first, in the order of its deletion.
   */
  hold(tx: Tx, id: string): Promise<void>;
  /**
   * Reserves a use for a buyer who pays.
   *
   * @returns false when the code is no longer valid, or is being deleted.
   */
  claim(tx: Tx, id: string): Promise<boolean>;
  /** Releases a reservation when the buyer did not pay. */
  release(tx: Tx, id: string): Promise<void>;
  /**
   * Records a paid use.
   *
   * @param wasClaimed the use was reserved before.
   */
  use(tx: Tx, append: AppendEvent, id: string, wasClaimed: boolean): Promise<void>;
}

const BATCH = 100;

export function createDiscountCodes(deps: Deps): DiscountCodes {
  const { db, events, clock } = deps;
  return {
    create: (workspaceId, input) => events.transaction((tx) => create(deps, tx, workspaceId, input)),
    list: (workspaceId, page) => repository.listCodes(db, workspaceId, page),
    update: (workspaceId, id, input) =>
      events.transaction((tx, append) => update(deps, { tx, append }, workspaceId, id, input)),
    remove: (workspaceId, id) =>
      events.transaction(async (tx) => {
        if (!(await repository.deleteCode(tx, workspaceId, id))) throw notFound();
      }),
    quote: (workspaceId, text, sold) => quote(deps, workspaceId, text, sold),
    async keep(tx, { id }) {
      if (!(await repository.lockCodeKeyShare(tx, id))) throw refuse(MISSING);
    },
    uses: {
      async hold(tx, id) {
        await repository.lockCodeKeyShare(tx, id);
      },
      // A code that was just chosen is not locked yet: its deletion may wait for the buyer, who must not wait
      // for it.
      claim: async (tx, id) =>
        (await repository.lockCodeKeyShare(tx, id, 'now')) && repository.reserveUse(tx, id, clock.now()),
      async release(tx, id) {
        await repository.adjustUseCounts(tx, id, { claimed: -1, used: 0 });
      },
      async use(tx, append, id, wasClaimed) {
        const row = await repository.adjustUseCounts(tx, id, { claimed: wasClaimed ? -1 : 0, used: 1 });
        if (row !== undefined && isUsedUp(row)) await emitCodeEvent(tx, append, 'exhausted', row);
      },
    },
    async tellExpired() {
      for (;;) {
        const told = await events.transaction(async (tx, append) => {
          const rows = await repository.claimExpired(tx, clock.now(), BATCH);
          for (const row of rows) await emitCodeEvent(tx, append, 'expired', row);
          return rows.length;
        });
        if (told < BATCH) return;
      }
    },
  };
}

const isUsedUp = (row: Pick<DiscountCodeRow, 'used_count' | 'max_uses'>) => row.used_count === row.max_uses;

const EVENTS = { exhausted: discountCodeExhausted, expired: discountCodeExpired };

async function emitCodeEvent(tx: Tx, append: AppendEvent, what: keyof typeof EVENTS, row: DiscountCodeRow) {
  await append(EVENTS[what], row.workspace_id, {
    discountCodeId: row.id,
    code: row.code,
    usedCount: row.used_count,
    sequence: await nextSequence(tx, 'discount_code', row.id),
  });
}

async function create(deps: Deps, tx: Tx, workspaceId: string, input: DiscountCodeIn) {
  const { percentOff = null, amountCentsOff = null, maxUses = null, expiresAt = null } = input;
  const { productId = null, notes = null } = input;
  const code = parseCode(input.code);
  assertOneDiscount({ percent_off: percentOff, amount_cents_off: amountCentsOff });
  await assertProduct(deps, tx, workspaceId, productId);
  const now = deps.clock.now();
  const row = await repository.insertCode(tx, {
    id: newId('dsc', deps.clock),
    workspace_id: workspaceId,
    code,
    product_id: productId,
    percent_off: percentOff,
    amount_cents_off: amountCentsOff,
    max_uses: maxUses,
    expires_at: toDate(expiresAt),
    notes,
    created_at: now,
    updated_at: now,
  });
  if (row === undefined) throw codeExists();
  return row;
}

async function update(
  deps: Deps,
  { tx, append }: { tx: Tx; append: AppendEvent },
  workspaceId: string,
  id: string,
  input: DiscountCodePatch,
): Promise<DiscountCodeRow> {
  const { expiresAt } = input;
  const row = await repository.lockCode(tx, workspaceId, id);
  if (row === undefined) throw notFound();
  const change = {
    code: input.code === undefined ? row.code : parseCode(input.code),
    product_id: input.productId === undefined ? row.product_id : input.productId,
    percent_off: input.percentOff === undefined ? row.percent_off : input.percentOff,
    amount_cents_off: input.amountCentsOff === undefined ? row.amount_cents_off : input.amountCentsOff,
    max_uses: input.maxUses === undefined ? row.max_uses : input.maxUses,
    expires_at: expiresAt === undefined ? row.expires_at : toDate(expiresAt),
    notes: input.notes === undefined ? row.notes : input.notes,
    is_active: input.isActive ?? row.is_active,
  } satisfies DiscountCodeChange;
  assertOneDiscount(change);
  assertOpenToChange(row, change);
  if (change.product_id !== row.product_id) await assertProduct(deps, tx, workspaceId, change.product_id);
  const holder = change.code === row.code ? row : await repository.findByText(tx, workspaceId, change.code);
  if (holder !== undefined && holder.id !== id) throw codeExists();
  const isLater = change.expires_at?.getTime() !== row.expires_at?.getTime();
  const after = await repository.updateCode(tx, id, {
    ...change,
    updated_at: deps.clock.now(),
    // A new expiry date emits an event of its own.
    ...(isLater ? { expiry_notified_at: null } : {}),
  });
  // Lowering the limit can exhaust the code, too.
  if (isUsedUp(after) && !isUsedUp(row)) await emitCodeEvent(tx, append, 'exhausted', after);
  return after;
}

/** Fields promised to buyers, fixed once the code was used. */
const FIXED = {
  code: 'code',
  product_id: 'productId',
  percent_off: 'percentOff',
  amount_cents_off: 'amountCentsOff',
} as const;

function assertOpenToChange(
  row: DiscountCodeRow,
  change: Pick<DiscountCodeRow, keyof typeof FIXED | 'max_uses'>,
): void {
  const { used_count: used, reserved_count: claimed } = row;
  if (change.max_uses !== null && change.max_uses < used) {
    throw badRequest('maxUses', `maxUses cannot be lower than the ${used} existing uses.`);
  }
  if (change.max_uses !== null && change.max_uses < used + claimed) {
    throw new AppError('CONFLICT', { field: 'maxUses', message: 'A payment with this code is in progress.' });
  }
  if (used + claimed === 0) return;
  const columns = ['code', 'product_id', 'percent_off', 'amount_cents_off'] as const;
  const changed = columns.find((column) => change[column] !== row[column]);
  if (changed === undefined) return;
  const field = FIXED[changed];
  throw new AppError('CONFLICT', { field, message: `${field} cannot be changed after the code was used.` });
}

const MISSING = 'Discount code not found.';
const refuse = (message: string) => new AppError('CONFLICT', { field: 'discountCode', message });

async function quote(
  { db, clock }: Deps,
  workspaceId: string,
  text: string,
  sold: DiscountTarget,
): Promise<Quote> {
  const row = await repository.findByText(db, workspaceId, normalizeCode(text));
  if (row === undefined) throw refuse(MISSING);
  const status = statusOf(row, clock.now());
  if (status === 'DISABLED') throw refuse(MISSING);
  if (status === 'EXPIRED') throw refuse('This discount code has expired.');
  if (status === 'EXHAUSTED') throw refuse('This discount code has been used up.');
  if (row.product_id !== null && row.product_id !== sold.productId) {
    throw refuse('This discount code does not apply to this item.');
  }
  const discountCents = discountOf(sold.priceCents, row);
  // The code would be used up without reducing the price.
  if (discountCents === 0) throw refuse('This discount code does not reduce the price.');
  return { id: row.id, code: row.code, discountCents };
}

async function assertProduct(deps: Deps, tx: Tx, workspaceId: string, productId: string | null) {
  if (productId !== null && !(await deps.hasProduct(tx, workspaceId, productId))) throw notFound('productId');
}

function codeExists(): AppError {
  return new AppError('CONFLICT', {
    field: 'code',
    message: 'This discount code already exists.',
  });
}

const toDate = (instant: string | null) => (instant === null ? null : dateFromText(instant));
