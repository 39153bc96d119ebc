import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { diffFields, omitUndefined } from '../../../kernel/diff.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { type Db, type Tx, violatedConstraint } from '../../../platform/db/index.ts';
import type { IntakeField } from '../../../platform/db/json-columns.ts';
import {
  productCreated,
  productDeleted,
  productPublished,
  productUnpublished,
  productUpdated,
} from './events.ts';
import type { ProductChange, ProductFilters, ProductRow } from './repository.ts';
import * as repository from './repository.ts';
import { assertProduct } from './rules.ts';
import { type ProductIn, type ProductPatch, settingsOf } from './schemas.ts';

interface Deps {
  db: Db;
  events: Pick<Events, 'transaction'>;
  clock: Clock;
  /** Reports whether the creator has availability windows. */
  hasWindows(db: Db, workspaceId: string): Promise<boolean>;
  /** @param which `bookable`: not canceled; `any`: including canceled ones. */
  hasCohort(db: Db, productId: string, which: 'bookable' | 'any'): Promise<boolean>;
  /** Returns the number of bookings ever made per product; products without bookings are omitted. */
  bookingCounts(db: Db, productIds: readonly string[]): Promise<Map<string, number>>;
}

/** Booking products of a workspace (docs/concepts/booking-products.md). An id that is not the workspace's is NOT_FOUND. */
export interface Products {
  /**
   * @throws {AppError} BAD_REQUEST naming the input; CONFLICT, field `slug`, for a slug of another product.
   */
  create(workspaceId: string, input: ProductIn): Promise<ProductRow>;
  list(workspaceId: string, filters: ProductFilters, page: PageRequest): Promise<ProductRow[]>;
  get(workspaceId: string, id: string): Promise<ProductRow>;
  /** Returns undefined where `get` throws; also usable in a transaction. */
  find(db: Db, workspaceId: string, id: string): Promise<ProductRow | undefined>;
  /** @throws {AppError} as `create`; CONFLICT for an archived product, and for another `type` of one that has bookings. */
  update(workspaceId: string, id: string, input: ProductPatch): Promise<ProductRow>;
  /**
   * @throws {AppError} BAD_REQUEST, field `availability` for a ONE_TO_ONE without weekly windows, `cohorts` for a COHORT
   * without any; CONFLICT for an archived product.
   */
  publish(workspaceId: string, id: string): Promise<ProductRow>;
  /** @throws {AppError} CONFLICT for an archived product. */
  unpublish(workspaceId: string, id: string): Promise<ProductRow>;
  /** Deletes a product, or archives it when it was ever booked. @returns null when it is deleted. */
  remove(workspaceId: string, id: string): Promise<ProductRow | null>;
  /** Locks a product of any status for a sale. @throws {AppError} NOT_FOUND. */
  lock(tx: Tx, id: string): Promise<ProductRow>;
  /**
   * Returns the product as page viewers see it. @throws {AppError} NOT_FOUND, also for one that is not
   * published.
   */
  findPublished(workspaceId: string, slugOrId: string): Promise<ProductRow>;
  /**
   * Locks the product for share, for a booking: it cannot change, and other bookings may lock it too. @throws
   * {AppError} NOT_FOUND.
   */
  hold(tx: Tx, id: string): Promise<ProductRow>;
  /** Returns the number of bookings ever made per product; products without bookings are omitted. */
  bookingCounts(ids: readonly string[]): Promise<Map<string, number>>;
}

export function createProducts(deps: Deps): Products {
  const { db, events } = deps;
  const inWork = <T>(run: (work: Work) => Promise<T>) =>
    events.transaction((tx, append) => run({ ...deps, tx, append, now: deps.clock.now() }));
  return {
    create: (workspaceId, input) => slugged(inWork((work) => create(work, workspaceId, input))),
    list: (workspaceId, filters, page) => repository.listProducts(db, workspaceId, filters, page),
    find: repository.findProduct,
    get: async (workspaceId, id) => found(await repository.findProduct(db, workspaceId, id)),
    update: (workspaceId, id, input) => slugged(inWork((work) => update(work, workspaceId, id, input))),
    publish: (workspaceId, id) => inWork((work) => publish(work, workspaceId, id)),
    unpublish: (workspaceId, id) =>
      inWork(async (work) => {
        const row = await lockOpen(work.tx, workspaceId, id);
        if (row.status === 'DRAFT') return row;
        const after = await repository.updateProduct(work.tx, id, { status: 'DRAFT', updated_at: work.now });
        await tell(work, productUnpublished, after);
        return after;
      }),
    remove: (workspaceId, id) => inWork((work) => remove(work, workspaceId, id)),
    lock: async (tx, id) => found(await repository.lockProduct(tx, id)),
    findPublished: async (workspaceId, slugOrId) =>
      found(await repository.findPublished(db, workspaceId, slugOrId)),
    hold: async (tx, id) => found(await repository.lockProductForShare(tx, id)),
    bookingCounts: (ids) => deps.bookingCounts(db, ids),
  };
}

/** Reports whether the product belongs to the workspace. */
export async function hasProduct(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return (await repository.findProduct(db, workspaceId, id)) !== undefined;
}

interface Work extends Deps {
  tx: Tx;
  append: AppendEvent;
  now: Date;
}

async function create({ tx, append, now }: Work, workspaceId: string, input: ProductIn): Promise<ProductRow> {
  assertProduct(input);
  const row = await repository.insertProduct(tx, {
    ...DEFAULTS,
    ...omitUndefined(toColumns(input)),
    id: newId('bkp'),
    workspace_id: workspaceId,
    title: input.title,
    type: input.type,
    price_cents: input.priceCents,
    event_sequence: 1,
    created_at: now,
    updated_at: now,
  });
  await append(productCreated, workspaceId, { ...dataOf(row), sequence: 1 });
  return row;
}

async function update(work: Work, workspaceId: string, id: string, input: ProductPatch) {
  assertProduct(input);
  const { tx, append, now } = work;
  const before = await lockOpen(tx, workspaceId, id);
  const columns = omitUndefined(toColumns(input));
  const fields = input.intakeFields === undefined ? before.intake_fields : known(input.intakeFields);
  const wished = { ...before, ...columns, intake_fields: fields };
  const changes = diffFields(settingsOf(before), settingsOf(wished));
  if (Object.keys(changes).length === 0) return before;
  if (changes.type !== undefined) await assertOtherType(work, before, input.type ?? before.type);
  const after = await repository.updateProduct(tx, id, { ...columns, updated_at: now });
  const sequence = await nextSequence(tx, 'booking_product', id);
  await append(productUpdated, workspaceId, { ...dataOf(after), changes, sequence });
  return after;
}

async function assertOtherType(work: Work, before: ProductRow, type: ProductRow['type']): Promise<void> {
  const refuse = (message: string) => new AppError('CONFLICT', { field: 'type', message });
  if (await wasBooked(work, before))
    throw refuse('The type cannot be changed after the product has been booked.');
  if (await work.hasCohort(work.tx, before.id, 'any')) throw refuse('The product has cohorts.');
  if (before.status === 'PUBLISHED') await assertBookable(work, { ...before, type });
}

async function publish(work: Work, workspaceId: string, id: string): Promise<ProductRow> {
  const row = await lockOpen(work.tx, workspaceId, id);
  if (row.status === 'PUBLISHED') return row;
  await assertBookable(work, row);
  const { tx, now } = work;
  const after = await repository.updateProduct(tx, id, {
    status: 'PUBLISHED',
    published_at: now,
    updated_at: now,
  });
  await tell(work, productPublished, after);
  return after;
}

async function assertBookable({ tx, hasWindows, hasCohort }: Work, row: ProductRow): Promise<void> {
  if (row.type === 'ONE_TO_ONE' && !(await hasWindows(tx, row.workspace_id))) {
    throw badRequest('availability', 'Set your availability first with PUT /booking/availability.');
  }
  if (row.type === 'COHORT' && !(await hasCohort(tx, row.id, 'bookable'))) {
    throw badRequest('cohorts', 'Create a cohort for this product first.');
  }
}

async function remove(work: Work, workspaceId: string, id: string): Promise<ProductRow | null> {
  const { tx, now } = work;
  const row = found(await repository.lockOwnProduct(tx, workspaceId, id));
  if (row.status === 'ARCHIVED') return row;
  if (!(await wasBooked(work, row))) {
    await tell(work, productDeleted, row);
    await repository.deleteProduct(tx, id);
    return null;
  }
  const after = await repository.updateProduct(tx, id, {
    status: 'ARCHIVED',
    archived_at: now,
    updated_at: now,
  });
  await tell(work, productDeleted, after);
  return after;
}

/** Reports whether the product was ever booked. Requires its lock, which blocks new bookings. */
async function wasBooked({ tx, bookingCounts }: Work, { id }: ProductRow): Promise<boolean> {
  return (await bookingCounts(tx, [id])).has(id);
}

async function lockOpen(tx: Tx, workspaceId: string, id: string): Promise<ProductRow> {
  const row = found(await repository.lockOwnProduct(tx, workspaceId, id));
  if (row.status !== 'ARCHIVED') return row;
  throw new AppError('CONFLICT', { message: 'An archived product cannot be changed.' });
}

function found(row: ProductRow | undefined): ProductRow {
  if (row === undefined) throw notFound();
  return row;
}

/** Runs the write; the unique index decides between concurrent ones. */
async function slugged<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (violatedConstraint(error) !== 'booking_product_slug') throw error;
    const message = 'This slug is already used by another product.';
    throw new AppError('CONFLICT', { field: 'slug', message, cause: error });
  }
}

const DEFAULTS = {
  duration_min: 60,
  buffer_min: 0,
  capacity: 1,
  recordable: false,
  replay_access_days: 30,
  refund_policy_days: 0,
} as const;

function toColumns(input: ProductPatch) {
  const { intakeFields: fields } = input;
  return {
    title: input.title,
    type: input.type,
    price_cents: input.priceCents,
    description: input.description,
    thumbnail_url: input.thumbnailUrl,
    duration_min: input.durationMin,
    buffer_min: input.bufferMin,
    capacity: input.capacity,
    recordable: input.recordable,
    replay_access_days: input.replayAccessDays,
    refund_policy_days: input.refundPolicyDays,
    intake_fields: fields === undefined || fields === null ? fields : JSON.stringify(known(fields)),
    slug: input.slug,
  } satisfies ProductChange;
}

/** Drops unknown fields. */
function known(fields: readonly IntakeField[] | null): IntakeField[] | null {
  return (
    fields?.map(({ key, label, type, required, options }) => ({
      ...{ key, label, type, required },
      ...(options === undefined ? {} : { options }),
    })) ?? null
  );
}

const dataOf = ({ id, type, title, status }: ProductRow) => ({ productId: id, type, title, status });

async function tell(
  { tx, append }: Work,
  definition: typeof productPublished,
  row: ProductRow,
): Promise<void> {
  const sequence = await nextSequence(tx, 'booking_product', row.id);
  await append(definition, row.workspace_id, { ...dataOf(row), sequence });
}
