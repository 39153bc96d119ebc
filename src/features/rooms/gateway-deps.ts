import type { SameOriginCheck } from '../../http/same-origin.ts';
import type { RoomEngine } from '../../media/contract/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RoomAdmission } from './admission.service.ts';
import type { RoomDeps } from './locked.ts';
import type { RoomModeration } from './moderation.service.ts';
import type { RoomRelay } from './relay.ts';
import type { Rooms } from './service.ts';
import type { RoomTokens } from './tokens.ts';

/** Dependencies of the gateway; set in module.ts. */
export interface RoomGatewayDeps extends RoomDeps {
  log: Logger;
  rooms: Rooms;
  entrance: RoomAdmission;
  moderation: RoomModeration;
  tokens: RoomTokens;
  relay: RoomRelay;
  engine: RoomEngine;
  isOwnOrigin: SameOriginCheck;
  /** Returns the ICE servers for browsers in the form of RTCConfiguration. */
  iceServers(identity: string): readonly object[];
}
