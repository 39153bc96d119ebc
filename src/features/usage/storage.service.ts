import { AppError } from '../../kernel/errors.ts';
import { PLANS } from '../../kernel/plans.ts';
import type { Tx } from '../../platform/db/index.ts';
import { lockWorkspace, setStorage } from '../../platform/db/workspace.ts';

export interface StorageUse {
  workspaceId: string;
  videoId: string;
  /** What the video counts from now on: the size of its original, or what is reserved for it. */
  bytes: number;
  /** Refuse what would pass the plan's storage; without it, what is there already is counted anyway. */
  enforce: boolean;
}

/** Storage of a workspace (docs/api/plans.md): the originals of its videos, reserved or received. */
export interface StorageQuota {
  /**
   * Changes what one video counts. Locks the workspace, so a transaction that also locks the video calls
   * this (or `lockWorkspace`) first. A video that is gone counts nothing and stays so.
   *
   * @throws {AppError} QUOTA_EXCEEDED with `enforce` when the video grows beyond what the plan has left.
   */
  set(tx: Tx, use: StorageUse): Promise<void>;
}

/** What each video counts. */
export interface CountedVideos {
  /** Undefined where the workspace has no such video. */
  videoStorage(tx: Tx, workspaceId: string, videoId: string): Promise<number | undefined>;
  setVideoStorage(tx: Tx, videoId: string, bytes: number): Promise<void>;
}

const GB = 2 ** 30;

export function createStorageQuota(videos: CountedVideos): StorageQuota {
  return {
    async set(tx, { workspaceId, videoId, bytes, enforce }) {
      const { plan, storageBytes: usedBytes } = await lockWorkspace(tx, workspaceId);
      const before = await videos.videoStorage(tx, workspaceId, videoId);
      if (before === undefined || before === bytes) return;
      const after = usedBytes - before + bytes;
      const { storageBytes } = PLANS[plan];
      if (enforce && bytes > before && after > storageBytes) {
        const message = `The plan includes ${storageBytes / GB} GB of storage; ${usedBytes} bytes are used or reserved.`;
        throw new AppError('QUOTA_EXCEEDED', { message });
      }
      await videos.setVideoStorage(tx, videoId, bytes);
      await setStorage(tx, workspaceId, after);
    },
  };
}
