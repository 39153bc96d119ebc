/** Watching by WebRTC (WHEP, draft-ietf-wish-whep). */
export { createWhep, WHEP_TOPIC, type Whep, watchWhep } from './service.ts';
export { whepPages } from './whep.pages.ts';
