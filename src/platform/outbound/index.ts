export { isReachable } from './check-reachable.ts';
export {
  createOutbound,
  type Download,
  type Outbound,
  type OutboundOptions,
  type OutboundResponse,
} from './client.ts';
export { GuardError, OutboundError } from './errors.ts';
export { probe } from './probe.ts';
export { nonPublicNameReason } from './ssrf-guard.ts';
export type { StreamResponse } from './stream.ts';
export { createTxtResolver, type TxtResolver } from './txt.ts';
export { userAgentOf } from './user-agent.ts';
