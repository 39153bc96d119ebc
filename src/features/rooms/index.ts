/**
 * Rooms: people who see and hear each other (docs/concepts/rooms.md, docs/decisions/rooms.md).
 *
 * Terminology: a *participant* is one stay of somebody in a room, from the first connection until they have left; a
 * *seat* is what a participant has of the room's capacity, also while the connection is lost; the *gateway* is what
 * browsers are connected to, the *engine* what carries sound and pictures.
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
