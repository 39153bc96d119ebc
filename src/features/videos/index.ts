/**
 * Videos. Today this is their event type alone: the contract names it, so partners may subscribe to it before
 * the first video can be uploaded.
 */
export { videoEvents } from './events.ts';
