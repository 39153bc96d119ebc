import { AppError } from '../../../../kernel/errors.ts';
import { PLANS, type Plan } from '../../../../kernel/plans.ts';
import type { Tx } from '../../../../platform/db/index.ts';
import { getWorkspaceOwner, lockWorkspace, setStorage } from '../../../../platform/db/workspace.ts';
import type { UsageEvents } from '../../../insight/usage-events/index.ts';
import type { OwnVideo } from './repository.ts';
import * as repository from './repository.ts';

/**
 * Storage used by the videos of a workspace (docs/concepts/plans.md): their originals, reserved or received.
 * Changes lock the workspace, so that concurrent sources cannot exceed the plan together. A deleted video
 * uses none from then on.
 */
export interface StorageReservation {
  /**
   * Reserves `bytes` for a file that is still to come, replacing the previous reservation of the video.
   *
   * @throws {AppError} QUOTA_EXCEEDED when the video grows beyond what the plan has left.
   */
  reserve(tx: Tx, video: OwnVideo, bytes: number): Promise<void>;
  /** Sets the storage to the received size, even beyond the plan: received files are not discarded. */
  adjust(tx: Tx, video: OwnVideo, bytes: number): Promise<void>;
  /**
   * Reserves another `bytes`, or releases them when negative, for files that are not a video yet.
   *
   * @throws {AppError} QUOTA_EXCEEDED when the plan has less left.
   */
  grow(tx: Tx, workspaceId: string, bytes: number): Promise<void>;
  /** Adds `bytes` that are already stored, even beyond the plan. */
  settle(tx: Tx, workspaceId: string, bytes: number): Promise<void>;
  /** Releases the storage of the video. */
  release(tx: Tx, video: OwnVideo): Promise<void>;
  /**
   * Creates a reservation for a file of unknown length, which grows ahead of the received bytes.
   *
   * @param reserve sets the storage of the file to this size, in a transaction of its own.
   */
  ahead(reserve: (bytes: number) => Promise<void>): GrowingReservation;
  /**
   * Runs what takes storage, in a transaction of its own. Where there is too little left, files of deleted videos
   * are removed and it runs again.
   */
  makingRoom<T>(workspaceId: string, work: () => Promise<T>): Promise<T>;
  /** Reports whether any storage is left, not counting deleted videos. Takes no lock. */
  hasStorage(tx: Tx, workspaceId: string): Promise<boolean>;
}

/** Growing file and the storage reserved for it. */
export interface GrowingReservation {
  /**
   * Reserves before the file grows to `bytes`: one step ahead, so that not every part queries the database,
   * or exactly `bytes` where the size is known or the plan has no room for the step.
   *
   * @throws {AppError} QUOTA_EXCEEDED
   */
  cover(bytes: number, options?: { exactly?: boolean }): Promise<void>;
}

const GB = 2 ** 30;
const AHEAD_BYTES = 16 * 2 ** 20;
const GAUGED_BYTES = 100 * 2 ** 20;

/** Removal of the files of deleted videos; filled by the composition root. */
export interface Trash {
  /**
   * Removes the oldest files first until `bytes` are free.
   *
   * @returns false when removing all of them is not enough.
   */
  makeRoom(workspaceId: string, bytes: number): Promise<boolean>;
}

class StorageFull extends AppError {
  readonly missingBytes: number;

  constructor(workspaceId: string, missingBytes: number, message: string) {
    super('QUOTA_EXCEEDED', { message, quota: { workspaceId, resource: 'STORAGE_BYTES' } });
    this.missingBytes = missingBytes;
  }
}

export function createStorageReservation(
  trash: Trash,
  facts: Pick<UsageEvents, 'append'>,
): StorageReservation {
  const gauge: Gauge = async (tx, workspaceId, { before, after }) => {
    if (after - before < GAUGED_BYTES) return;
    await facts.append(tx, [{ kind: 'STORAGE', workspaceId, amount: after }]);
  };
  return {
    reserve: (tx, video, bytes) => take(tx, video, bytes, { enforce: true, gauge }),
    adjust: (tx, video, bytes) => take(tx, video, bytes, { enforce: false, gauge }),
    release: releaseStorage,
    grow: (tx, workspaceId, bytes) => grow(tx, workspaceId, bytes, { enforce: true, gauge }),
    settle: (tx, workspaceId, bytes) => grow(tx, workspaceId, bytes, { enforce: false, gauge }),
    ahead: reserveAhead,
    async makingRoom(workspaceId, work) {
      try {
        return await work();
      } catch (error) {
        const isFull = error instanceof StorageFull;
        if (!isFull || !(await trash.makeRoom(workspaceId, error.missingBytes))) throw error;
        return work();
      }
    },
    async hasStorage(tx, workspaceId) {
      const { plan, storageBytes } = await getWorkspaceOwner(tx, workspaceId);
      return storageBytes - (await repository.trashBytes(tx, workspaceId)) < PLANS[plan].storageBytes;
    },
  };
}

function reserveAhead(reserve: (bytes: number) => Promise<void>): GrowingReservation {
  let covered = 0;
  return {
    async cover(bytes, { exactly = false } = {}) {
      if (bytes <= covered) return;
      const most = exactly ? bytes : bytes + AHEAD_BYTES;
      try {
        await reserve(most);
        covered = most;
      } catch (error) {
        if (most === bytes || !(error instanceof AppError) || error.code !== 'QUOTA_EXCEEDED') throw error;
        await reserve(bytes);
        covered = bytes;
      }
    },
  };
}

/**
 * Callback that records the stored bytes when they have grown considerably (docs/decisions/usage.md#storage).
 */
type Gauge = (tx: Tx, workspaceId: string, stored: { before: number; after: number }) => Promise<void>;

interface Taking {
  enforce: boolean;
  gauge?: Gauge;
}

async function take(tx: Tx, video: OwnVideo, bytes: number, { enforce, gauge }: Taking): Promise<void> {
  const { workspaceId } = video;
  const { plan, storageBytes: usedBytes } = await lockWorkspace(tx, workspaceId);
  const before = await repository.videoStorage(tx, video);
  if (before === undefined || before === bytes) return;
  const after = usedBytes - before + bytes;
  if (enforce && bytes > before) assertFits(workspaceId, plan, usedBytes, after);
  await repository.setVideoStorage(tx, video, bytes);
  await setStorage(tx, workspaceId, after);
  await gauge?.(tx, workspaceId, { before: usedBytes, after });
}

async function grow(tx: Tx, workspaceId: string, bytes: number, { enforce, gauge }: Taking): Promise<void> {
  const { plan, storageBytes } = await lockWorkspace(tx, workspaceId);
  const after = storageBytes + bytes;
  if (enforce && bytes > 0) assertFits(workspaceId, plan, storageBytes, after);
  await setStorage(tx, workspaceId, after);
  await gauge?.(tx, workspaceId, { before: storageBytes, after });
}

function assertFits(workspaceId: string, plan: Plan, usedBytes: number, after: number): void {
  const { storageBytes } = PLANS[plan];
  if (after <= storageBytes) return;
  const message = `The plan includes ${storageBytes / GB} GB of storage; ${usedBytes} bytes are used or reserved.`;
  throw new StorageFull(workspaceId, after - storageBytes, message);
}

/** Releases `bytes` that no longer belong to a video. */
export function releaseBytes(tx: Tx, workspaceId: string, bytes: number): Promise<void> {
  return grow(tx, workspaceId, -bytes, { enforce: false });
}

/** Releases the storage of a video. */
export function releaseStorage(tx: Tx, video: OwnVideo): Promise<void> {
  return take(tx, video, 0, { enforce: false });
}
