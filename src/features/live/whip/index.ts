/** Publishing by WebRTC (WHIP, RFC 9725). */

export type { IceServer, iceLinks } from './ice-links.ts';
export type { endSessionsOf as endWhipSessionsOf } from './repository.ts';
