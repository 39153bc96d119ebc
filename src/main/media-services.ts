import type { BlobStore, LiveHistory, Transcriber, VideoFiles } from '../media/contract/index.ts';
import { createBroadcastSegments } from '../media/dvr/broadcast-segments.ts';
import { missingFeatures } from '../media/ffmpeg/check.ts';
import type { LiveSource } from '../media/nodes/live-source.ts';
import { createLiveFiles, createVideoFiles } from '../media/playback/index.ts';
import { createRecordingJoiner } from '../media/recording/join.ts';
import { createRoomComposer } from '../media/rooms/compose/composer.ts';
import { createIceServers } from '../media/rooms/turn.ts';
import { createVideoCutter } from '../media/transcode/cut.ts';
import { createTranscoder } from '../media/transcode/index.ts';
import { splitCommand } from '../media/transcribe/command.ts';
import { createTranscriber } from '../media/transcribe/index.ts';
import { ConfigError } from '../platform/config.ts';
import { mediaOriginsOf } from './media-origins.ts';
import { codecEncoders, missingCodecs } from './media-tools.ts';
import type { Ports } from './ports.ts';

/** Time without progress after which transcription is aborted; audio is read faster than real time. */
const STALL_MS = 120_000;

/** Creates the services of the media plane that features use, behind the interfaces of `media/contract`. */
export function createMediaServices(ports: Ports) {
  const { config, checkTools, clock, encoderThreads, guard, hardware, log, store } = ports;
  const tools = {
    ffmpeg: config.FFMPEG_PATH,
    ffprobe: config.FFPROBE_PATH,
    guard,
    threads: encoderThreads,
    log,
  };
  const command = transcribeCommand(config.TRANSCRIBE_COMMAND);
  const transcriber: Transcriber | null =
    command === null ? null : createTranscriber({ ...tools, stallMs: STALL_MS, command });
  const videoFiles = createVideoFiles({ store, accelPrefix: config.ACCEL_REDIRECT_PREFIX });
  return {
    composer: createRoomComposer(tools),
    cutter: createVideoCutter(tools),
    iceServers: createIceServers({ urls: config.TURN_URLS, secret: config.TURN_SECRET, clock }),
    joiner: createRecordingJoiner(tools),
    transcoder: createTranscoder({ ...tools, hardware: hardware.forVideos }),
    /** Null where no speech engine is configured. */
    transcriber,
    videoFiles,
    /** Origins other than the platform's that browsers load media from. */
    mediaOrigins: () => mediaOriginsOf(store),
    hasHardware: async () => (await hardware.forVideos()) !== null,
    missingCodecs: async (maxAgeMs: number) =>
      missingCodecs(config, await checkTools(maxAgeMs), await hardware.find()),
    async inspectTools() {
      const [info, { weakness }] = await Promise.all([checkTools(), guard()]);
      const found = await hardware.find();
      const lacks = [
        ...missingFeatures(info),
        ...(weakness === null ? [] : ['SANDBOX']),
        ...(missingCodecs(config, info, found).length === 0 ? [] : ['CODECS']),
        ...(found.refusals.length === 0 ? [] : ['HARDWARE_ENCODER']),
      ];
      return { version: info.version, lacks, encoders: codecEncoders(config, info, found) };
    },
  };
}

/** Creates the readers of live streams, which need their live windows and their history. */
export function createLiveReaders(
  { store, videoFiles }: { store: BlobStore; videoFiles: VideoFiles },
  { source, history }: { source: LiveSource; history: LiveHistory },
) {
  return {
    broadcastSegments: createBroadcastSegments({ live: source, history, store }),
    liveFiles: createLiveFiles({ source, kept: { history, openFile: videoFiles.openFile } }),
  };
}

/** Returns the words of the command of the speech engine; null where there is none. */
function transcribeCommand(command: string): string[] | null {
  if (command === '') return null;
  try {
    return splitCommand(command);
  } catch (error) {
    throw new ConfigError(
      `TRANSCRIBE_COMMAND ${error instanceof Error ? error.message : 'is not a command'}`,
    );
  }
}
