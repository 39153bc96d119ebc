import type { Caller } from '../../../kernel/access.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db } from '../../../platform/db/index.ts';
import { lockWorkspace } from '../../../platform/db/workspace.ts';
import { restreamCreated, restreamDeleted } from './events.ts';
import { changeLocked, type LockedWork, notifyChanged, type RestreamDeps } from './locked.ts';
import { logRestream } from './log.ts';
import type { RestreamFilter, RestreamRow, RestreamWithTargets } from './repository.ts';
import * as repository from './repository.ts';
import { type Changes, emitRestream, emitUpdated } from './restream-events.ts';
import { MAX_PER_STREAM, MAX_TARGETS } from './rules.ts';
import type { RestreamIn, RestreamPatch } from './schemas.ts';
import { assertTargetQuota, type CheckedTarget, newTarget, validateTarget } from './target-validation.ts';
import { type Change, reconcile } from './transitions.ts';

/** Restreams of a workspace (docs/concepts/restreams.md). An id of another one is NOT_FOUND. */
export interface Restreams {
  /**
   * @throws {AppError} BAD_REQUEST, field `streamId`, `targets.<n>.url` or `targets.<n>.streamKey`; QUOTA_EXCEEDED;
   * CONFLICT when the stream has as many as it may.
   */
  create(
    caller: Pick<Caller, 'workspaceId' | 'plan'>,
    input: RestreamIn,
    idempotentRunId: string | null,
  ): Promise<RestreamWithTargets>;
  list(workspaceId: string, filter: RestreamFilter, page: PageRequest): Promise<RestreamWithTargets[]>;
  get(workspaceId: string, id: string): Promise<RestreamWithTargets>;
  update(workspaceId: string, id: string, input: RestreamPatch): Promise<RestreamWithTargets>;
  remove(workspaceId: string, id: string): Promise<void>;
  /** Starts sending, whatever the start mode. Idempotent. @throws {AppError} CONFLICT when disabled. */
  start(workspaceId: string, id: string): Promise<RestreamWithTargets>;
  /** Stops sending until the next broadcast, signal or `start`. Idempotent. */
  stop(workspaceId: string, id: string): Promise<RestreamWithTargets>;
  /** Counts the targets of all restreams, enabled or not, as the plan does. */
  countTargets(workspaceId: string): Promise<number>;
}

export function createRestreams(deps: RestreamDeps): Restreams {
  const { db, clock } = deps;
  const locked = (workspaceId: string, id: string, work: LockedWork) =>
    changeLocked(deps, workspaceId, id, work);
  return {
    create: (caller, input, idempotentRunId) => create(deps, caller, input, idempotentRunId),
    countTargets: (workspaceId) => repository.countTargets(db, workspaceId),
    async list(workspaceId, filter, page) {
      const rows = await repository.listRestreams(db, workspaceId, filter, page);
      const targets = await repository.targetsOf(
        db,
        rows.map(({ id }) => id),
      );
      return rows.map((row) => ({ row, targets: targets.filter((one) => one.restream_id === row.id) }));
    },
    async get(workspaceId, id) {
      const row = await repository.findRestream(db, workspaceId, id);
      if (row === undefined) throw notFound();
      return { row, targets: await repository.targetsOf(db, [id]) };
    },
    update: (workspaceId, id, input) =>
      locked(workspaceId, id, async (change, row) => {
        const updated = await repository.updateRestream(change.tx, id, {
          name: input.name ?? row.name,
          enabled: input.enabled ?? row.enabled,
          start_mode: input.startMode ?? row.start_mode,
          updated_at: change.now,
        });
        await emitUpdated(change, updated, changesOf(row, updated));
        await logRestream(change.tx, updated, change.now);
        await reconcile(change, updated);
      }),
    async remove(workspaceId, id) {
      const streamId = await deps.events.transaction(async (tx, append) => {
        const found = await repository.findRestream(tx, workspaceId, id);
        if (found === undefined) throw notFound();
        // Locks the stream first, in the order of its deletion.
        await deps.streams.detach(tx, found.stream_id, id);
        const row = await repository.lockRestream(tx, workspaceId, id);
        if (row === undefined) throw notFound();
        await removeLocked({ tx, append, now: clock.now() }, row);
        return row.stream_id;
      });
      notifyChanged(deps, id, streamId);
    },
    start: (workspaceId, id) =>
      locked(workspaceId, id, async (change, found) => {
        if (!found.enabled)
          throw new AppError('CONFLICT', { field: 'enabled', message: 'The restream is disabled.' });
        // Reconciles with the current state of the stream, not with that of the last sweep.
        const row = await reconcile(change, found);
        if (row.is_running) return;
        await reconcile(
          change,
          await repository.updateRestream(change.tx, id, { manual_override: 'STARTED' }),
        );
      }),
    stop: (workspaceId, id) =>
      locked(workspaceId, id, async (change, found) => {
        const row = await reconcile(change, found);
        if (!row.is_running && row.manual_override !== 'STARTED') return;
        await reconcile(
          change,
          await repository.updateRestream(change.tx, id, { manual_override: 'STOPPED' }),
        );
      }),
  };
}

/** Stops the restream and deletes it, under its lock. */
export async function removeLocked(change: Change, row: RestreamRow): Promise<void> {
  const off = await repository.updateRestream(change.tx, row.id, { enabled: false });
  const stopped = await reconcile(change, off);
  await emitRestream(change, restreamDeleted, stopped);
  await logRestream(change.tx, stopped, change.now, true);
  await repository.deleteRestream(change.tx, row.id);
}

async function create(
  deps: RestreamDeps,
  { workspaceId, plan }: Pick<Caller, 'workspaceId' | 'plan'>,
  input: RestreamIn,
  idempotentRunId: string | null,
): Promise<RestreamWithTargets> {
  const { db, events, clock } = deps;
  const known = await madeBy(db, idempotentRunId);
  if (known !== null) return known;
  const given = input.targets ?? [];
  // Rejects a number of targets that no plan allows before any name is resolved; `plan` may be seconds old.
  if (given.length > MAX_TARGETS) await assertTargetQuota(db, workspaceId, plan, given.length);
  const targets = await Promise.all(
    given.map((target, index) => validateTarget(deps, target, `targets.${index}.`)),
  );
  const whole = await events.transaction(async (tx, append) => {
    const owner = await lockWorkspace(tx, workspaceId);
    // A concurrent run of the same operation has already committed.
    const made = await madeBy(tx, idempotentRunId);
    if (made !== null) return made;
    await assertTargetQuota(tx, workspaceId, owner.plan, targets.length);
    const change = { tx, append, now: clock.now() };
    return insert(deps, change, { workspaceId, input, targets, idempotentRunId });
  });
  notifyChanged(deps, whole.row.id, input.streamId);
  return whole;
}

async function madeBy(db: Db, idempotentRunId: string | null): Promise<RestreamWithTargets | null> {
  const row = idempotentRunId === null ? undefined : await repository.findByOperation(db, idempotentRunId);
  return row === undefined ? null : { row, targets: await repository.targetsOf(db, [row.id]) };
}

interface New {
  workspaceId: string;
  input: RestreamIn;
  targets: CheckedTarget[];
  idempotentRunId: string | null;
}

async function insert(
  deps: RestreamDeps,
  change: Change,
  { workspaceId, input, targets, idempotentRunId }: New,
): Promise<RestreamWithTargets> {
  const { tx, now } = change;
  const id = newId('rst', deps.clock);
  const title = await deps.streams.attach(tx, workspaceId, input.streamId, id);
  if (title === undefined) throw badRequest('streamId', 'Stream not found.');
  if ((await repository.countRestreams(tx, input.streamId)) >= MAX_PER_STREAM) {
    const message = `Limit of ${MAX_PER_STREAM} restreams per stream reached.`;
    throw new AppError('CONFLICT', { field: 'streamId', message });
  }
  const made = await repository.insertRestream(tx, {
    id,
    workspace_id: workspaceId,
    stream_id: input.streamId,
    name: input.name ?? title,
    enabled: input.enabled ?? true,
    start_mode: input.startMode ?? 'WITH_BROADCAST',
    operation_id: idempotentRunId,
    created_at: now,
    updated_at: now,
  });
  await repository.insertTargets(
    tx,
    targets.map((target) => newTarget(deps, id, target, now)),
  );
  await emitRestream(change, restreamCreated, made);
  await logRestream(tx, made, now);
  const row = await reconcile(change, made);
  return { row, targets: await repository.targetsOf(tx, [id]) };
}

function changesOf(before: RestreamRow, after: RestreamRow): Changes {
  const fields = { name: 'name', enabled: 'enabled', startMode: 'start_mode' } as const;
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, column]) => before[column] !== after[column])
      .map(([field, column]) => [field, { from: before[column], to: after[column] }]),
  );
}
