/**
 * Rooms: people who see and hear each other (docs/concepts/rooms.md, docs/decisions/rooms.md).
 *
 * Terminology: a *participant* is one stay of a person in a room, from the first connection until they leave;
 * a *seat* is a participant's share of the room's capacity, also while the connection is lost; the *gateway*
 * is the server that browsers connect to; the *engine* carries audio and video.
 */

export { createRoomAdmission, type RoomAdmission } from './admission.service.ts';
export { createAttendance } from './attendance.service.ts';
export { type BridgeParticipants, createRoomGuests } from './bridge-participants.service.ts';
export { roomEngineWebhookPage } from './engine-webhook.pages.ts';
export { participantJoined, roomEvents, roomRecordingReady } from './events.ts';
export { roomGatewayPage } from './gateway.pages.ts';
export { roomJoinPage } from './join.pages.ts';
export { lobbyPage } from './lobby.pages.ts';
export type { RoomDeps } from './locked.ts';
export { createRoomModeration, type RoomModeration } from './moderation.service.ts';
export { ROOM_RECORDER_TOPIC, type RoomRecorder } from './recorder.ts';
export { roomRecordingJob } from './recording.jobs.ts';
export { createRoomRecordings, type RoomRecordings } from './recording.service.ts';
export { createRoomAssembly, createRoomRecordingReady } from './recording-assembly.service.ts';
export { createRoomRelay, type RoomRelay } from './relay.ts';
export { roomRoutes } from './routes.ts';
export { createRooms, type PublicRoom, type Rooms } from './service.ts';
export { createRoomSweep } from './sweep.service.ts';
export { createRoomTokens, type RoomTokens } from './tokens.ts';
