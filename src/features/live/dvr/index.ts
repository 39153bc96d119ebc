/**
 * History of live streams: the part of a live broadcast that viewers can seek back to
 * (docs/decisions/dvr.md).
 */
export { createLiveHistory } from './history.service.ts';
export type { Dvr } from './retention.service.ts';
export { createDvr } from './retention.service.ts';
