import { createLiveHistory } from '../../features/live/dvr/index.ts';
import { createStreamSnapshots } from '../../features/live/streams/index.ts';
import {
  type ClippedStreams,
  clipJob,
  clipRoutes,
  createClipCutting,
  createClips,
} from '../../features/video/videos/index.ts';
import { nullIfNotFound } from '../../kernel/not-found.ts';
import { createBroadcastSegments } from '../../media/dvr/broadcast-segments.ts';
import { createRecordingJoiner } from '../../media/recording/join.ts';
import { createVideoCutter } from '../../media/transcode/cut.ts';
import { createTranscoder } from '../../media/transcode/index.ts';
import type { Core, OptionalModule } from '../core.ts';

/** Pieces of videos and broadcasts. */
export const clips: OptionalModule = {
  jobs: [clipJob],
  build(core) {
    const { config, store, videoLinks: links } = core;
    const streams = clippedStreams(core);
    const segments = createBroadcastSegments({
      live: core.liveSource,
      history: createLiveHistory(core.db),
      store,
    });
    const tools = {
      ffmpeg: config.FFMPEG_PATH,
      ffprobe: config.FFPROBE_PATH,
      guard: core.guard,
      threads: core.encoderThreads,
      log: core.log,
    };
    return {
      routes: () => clipRoutes({ clips: createClips({ ...core, streams, segments }), links }),
      jobs: () => [
        createClipCutting({
          ...{ ...core, streams, segments },
          joiner: createRecordingJoiner(tools),
          cutter: createVideoCutter(tools),
          transcoder: createTranscoder(tools),
        }),
      ],
    };
  },
};

function clippedStreams(core: Core): ClippedStreams {
  const { streams, recordings } = core;
  const shown = createStreamSnapshots(core);
  return {
    async broadcastOf(workspaceId, streamId) {
      const row = await streams.get(workspaceId, streamId);
      const stream = await shown.find(streamId);
      if (stream === undefined) return null;
      const { isLive, liveSince, ended, currentSessionId: sessionId } = stream;
      // As `startedAt` tells partners: of a broadcast that waited for its signal, since that has come.
      const since = isLive ? (row.started_at ?? liveSince) : (ended?.since ?? null);
      if (since === null) return null;
      const untilMs = isLive ? null : (ended?.until.getTime() ?? null);
      return { ...stream, sessionId, sinceMs: since.getTime(), untilMs };
    },
    async isTakenDown(workspaceId, streamId) {
      const row = await streams.get(workspaceId, streamId).catch(nullIfNotFound);
      return row !== null && row.taken_down_at !== null;
    },
    recordingsOf: (sessionId) => recordings.of(sessionId),
  };
}
