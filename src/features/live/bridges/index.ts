/**
 * Bridges: media from a source into a target (docs/concepts/bridges.md, docs/decisions/bridges.md).
 *
 * Terminology: a *source* is the media that is pulled; a *run* is one attempt of a node to deliver it to the
 * *target*.
 */
export { bridgeEvents } from './events.ts';
export { bridgeRoutes } from './routes.ts';
export { type BridgeRuns, createBridgeRuns } from './runs.service.ts';
export { BRIDGE_TOPIC, type Bridges, createBridges } from './service.ts';
