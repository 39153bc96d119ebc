/** What a workspace uses of its plan. */
export type { StorageQuota, StorageUse } from './storage.service.ts';
export { createStorageQuota } from './storage.service.ts';
