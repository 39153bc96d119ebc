export { createOutbound, type Outbound, type OutboundOptions, type OutboundResponse } from './client.ts';
export { GuardError, OutboundError } from './errors.ts';
