import type { AppendEvent } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Tx } from '../../../platform/db/index.ts';
import * as repository from './repository.ts';

export interface ReadyRecording {
  workspaceId: string;
  streamId: string;
  sessionId: string;
  videoId: string;
  durationSec: number | null;
}

interface Deps {
  clock: Clock;
  /** Emits `stream.recording_ready`. */
  emit(tx: Tx, append: AppendEvent, ready: ReadyRecording): Promise<void>;
}

interface PlayableVideo {
  id: string;
  workspace_id: string;
  session_id: string | null;
  duration_sec: number | null;
}

/** Creates the hook of the transaction that publishes a playable video: it emits the recording event once. */
export function createRecordingReady({ clock, emit }: Deps) {
  return async (tx: Tx, append: AppendEvent, video: PlayableVideo): Promise<void> => {
    const { id: videoId, session_id: sessionId, workspace_id: workspaceId } = video;
    if (sessionId === null) return;
    const marked = await repository.markReady(tx, sessionId, videoId, clock.now());
    if (marked === undefined) return;
    const durationSec = video.duration_sec;
    await emit(tx, append, { workspaceId, streamId: marked.stream_id, sessionId, videoId, durationSec });
  };
}
