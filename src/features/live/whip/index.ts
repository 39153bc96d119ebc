/** Publishing by WebRTC (WHIP, RFC 9725). */
export { iceLinks } from './ice-links.ts';
export { endSessionsOf as endWhipSessionsOf } from './repository.ts';
export { createWhip, WHIP_TOPIC, type Whip, watchWhip } from './service.ts';
export { whipPages } from './whip.pages.ts';
