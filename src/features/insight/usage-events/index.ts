/** Usage events: immutable rows about content and usage, from which all metrics are computed. */
export type { UsageEvents } from './service.ts';
export type { UsageEvent, Viewer } from './usage-event.ts';
