import { createStorageQuota, type StorageQuota } from '../../features/usage/index.ts';
import { setVideoStorage, videoStorage } from '../../features/videos/index.ts';
import type { Built } from '../part.ts';

export function usagePart(): Built<{ quota: StorageQuota }> {
  return { part: {}, gives: { quota: createStorageQuota({ videoStorage, setVideoStorage }) } };
}
