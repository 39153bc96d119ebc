export {
  createOutbound,
  type Download,
  type Outbound,
  type OutboundOptions,
  type OutboundResponse,
} from './client.ts';
export { GuardError, OutboundError } from './errors.ts';
export { refuseName } from './guard.ts';
export { look } from './look.ts';
export { reach } from './reach.ts';
export type { StreamResponse } from './stream.ts';
export { createTxtResolver, type TxtResolver } from './txt.ts';
export { userAgentOf } from './user-agent.ts';
