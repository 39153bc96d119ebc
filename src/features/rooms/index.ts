/**
 * Rooms: people who see and hear each other (docs/concepts/rooms.md, docs/decisions/rooms.md).
 *
 * Terminology: a *participant* is one stay of a person in a room, from the first connection until they leave;
 * a *seat* is a participant's share of the room's capacity, also while the connection is lost; the *gateway*
 * is the server that browsers connect to; the *engine* carries audio and video.
 */
export type { BridgeParticipants } from './bridge-participants.service.ts';
export type { participantJoined, roomRecordingReady } from './events.ts';
export type { Rooms } from './service.ts';
