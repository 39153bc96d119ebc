/**
 * Interface of the media plane for the product's features, and the ports that it uses.
 *
 * Terminology: a *publish* is one encoder connection; the engine gives it a `sessionId`. An *epoch* is one
 * packager run: a new directory, a new init segment, a discontinuity in the public playlist.
 */

export type {
  EngineConnection,
  EngineParticipant,
  EngineWebhook,
  RoomEngine,
  RoomEngineCaps,
  RoomEngineEvent,
  RoomEngineName,
  RoomPeer,
  RoomPermissions,
  RoomRole,
  RoomTrack,
  RoomTrackKind,
  Signal,
} from '../rooms/engine.ts';
export { InvalidSignalError, WebhookRejectedError } from '../rooms/engine.ts';
export type {
  BridgeEnd,
  BridgePort,
  BridgeReport,
  DesiredBridge,
  RoomParticipantHandle,
  RoomView,
} from './bridge.ts';
export { BRIDGE_LEASE_MS } from './bridge.ts';
export type {
  BroadcastSegments,
  BroadcastSpan,
  ClipSource,
  VideoCutter,
} from './clips.ts';
export type {
  DvrBroadcast,
  DvrFile,
  DvrPort,
  DvrPosition,
  HistorySegment,
  LiveHistory,
} from './dvr.ts';
export type {
  AudioInfo,
  IngestEnd,
  IngestEndReason,
  IngestEngine,
  IngestHooks,
  IngestProtocol,
  IngestSession,
  IngestStats,
  LatencyMode,
  MediaMessage,
  Publication,
  PublishGrant,
  PublishRequest,
  VideoInfo,
} from './ingest.ts';
export type { LiveIssue, RejectionIssue, StreamHealth } from './live.ts';
export type {
  CaptionFile,
  ChapterMark,
  DownloadedFile,
  FileReply,
  FileRequest,
  LiveEdge,
  LiveFiles,
  LiveMasterRequest,
  LivePlaylistRequest,
  LiveRequest,
  PlayableAudio,
  PlayableRendition,
  PlayableRung,
  PlayableVideo,
  PlaylistEnding,
  SegmentRequest,
  StreamLocation,
  TextRequest,
  VideoFiles,
} from './playback.ts';
export { MediaNodeUnavailableError } from './playback.ts';
export type { DesiredRecording, RecordingJoiner, RecordingPart, RecordingPort } from './recording.ts';
export type { DesiredPush, PushPlatform, PushReport, RestreamPort } from './restream.ts';
export { PUSH_LEASE_MS } from './restream.ts';
export type {
  DesiredRoomRecordings,
  RecordedRoomTrack,
  RoomComposer,
  RoomLayout,
  RoomRecordingPort,
} from './room-recording.ts';
export type { SimulatedSignal, SimulationPort } from './simulation.ts';
export type { BlobInfo, BlobStore, ByteSpan, ContentDigest, PartialFiles, PartialState } from './storage.ts';
export { DigestMismatchError } from './storage.ts';
export type {
  AudioPlan,
  Hdr10,
  LadderPlan,
  ProcessingNote,
  RenditionFiles,
  RungPlan,
  SourceAudio,
  SourceCaptions,
  SourceChunk,
  SourceInfo,
  Span,
  TranscodeRun,
  Transcoder,
  VideoErrorCode,
  VideoRange,
} from './transcode.ts';
export { MediaFileError, PROCESSING_NOTE_CODES } from './transcode.ts';
export type { TranscribeRun, Transcriber, Transcript } from './transcribe.ts';
export { TranscriptError } from './transcribe.ts';
export type { WhepOffer, WhepPort, WhepRejection } from './whep.ts';
export type { WhipOffer, WhipPort } from './whip.ts';
