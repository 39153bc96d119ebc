/**
 * Subscribers: the list of people whom a creator may write to (docs/concepts/subscribers.md).
 */
export type { Subscribers } from './service.ts';
