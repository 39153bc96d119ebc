export {
  createOutbound,
  type Download,
  type Outbound,
  type OutboundOptions,
  type OutboundResponse,
} from './client.ts';
export { GuardError, OutboundError } from './errors.ts';
export { nonPublicNameReason } from './guard.ts';
export { probe } from './look.ts';
export { isReachable } from './reach.ts';
export type { StreamResponse } from './stream.ts';
export { createTxtResolver, type TxtResolver } from './txt.ts';
export { userAgentOf } from './user-agent.ts';
