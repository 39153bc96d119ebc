/**
 * The history of live streams: what viewers can go back to while a broadcast is on (docs/decisions/dvr.md).
 */
export { createLiveHistory } from './history.service.ts';
export type { Dvr } from './retention.service.ts';
export { createDvr } from './retention.service.ts';
