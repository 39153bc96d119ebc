/** Facts: what happened to content and what was used, each a row that nobody changes; everything counted is made of them. */

export { createUsageEvents, type UsageEvents } from './service.ts';
export type { UsageEvent, Viewer } from './usage-event.ts';
