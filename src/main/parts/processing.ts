import {
  createTranscodeNode,
  createVideoProcessing,
  type VideoProcessor,
} from '../../features/video/videos/index.ts';
import { createTranscoder } from '../../media/transcode/index.ts';
import { type FeatureModule, INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import { missingCodecs } from '../media-tools.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';

const NODE_MS = 10_000;
/** A job does not wait for a look at ffmpeg: the worker looks every minute. */
const TOOLS_FRESH_MS = 150_000;

interface Needs extends BaseContext, Pick<PlaybackUrls, 'bareVideoLinks'> {
  /** Hooks called in the transaction in which a video becomes playable. */
  onPlayable: Parameters<typeof createVideoProcessing>[0]['onPlayable'];
}

/** Builds the processing of a video from the stored original to READY. */
export function processingPart(needs: Needs): ModuleWithExports<{ processing: VideoProcessor }> {
  const { config, jobs, log, checkTools, encoderThreads, hardware } = needs;
  const processing = createVideoProcessing({
    ...needs,
    queue: jobs,
    transcoder: createTranscoder({
      ffmpeg: config.FFMPEG_PATH,
      ffprobe: config.FFPROBE_PATH,
      guard: needs.guard,
      threads: encoderThreads,
      hardware: hardware.forVideos,
      log,
    }),
    links: needs.bareVideoLinks,
    chunkMinSec: config.VIDEO_CHUNK_MIN_SEC,
    isPerTitle: config.VIDEO_PER_TITLE,
    async furtherCodecs() {
      const lacking = missingCodecs(config, await checkTools(TOOLS_FRESH_MS), await hardware.find());
      return config.VIDEO_CODECS.filter((codec) => codec !== 'H264' && !lacking.includes(codec));
    },
    encodesWhole: async () => (await hardware.forVideos()) !== null,
    checkTools: () => checkTools(TOOLS_FRESH_MS),
  });
  const node = transcodeNode(needs);
  return {
    exports: { processing },
    module: {
      jobs: () => processing.workers(config.TRANSCODE_CONCURRENCY),
      tasks: () => [
        ...node.tasks(),
        { name: 'left scratch files', everyMs: INTERVALS.hour, run: () => processing.clearScratch() },
        { name: 'quiet processings', everyMs: INTERVALS.minute, run: () => processing.sweep() },
      ],
      services: node.services,
    },
  };
}

/** This worker among those that take encodes. */
function transcodeNode(base: BaseContext): Required<Pick<FeatureModule, 'tasks' | 'services'>> {
  const { config, checkTools } = base;
  const node = createTranscodeNode(base, config.TRANSCODE_CONCURRENCY);
  return {
    tasks: () => [
      {
        name: 'transcode node',
        everyMs: NODE_MS,
        run: async () => {
          // A node without a usable ffmpeg takes no encodes, and does not count as one that does.
          const isAble = await checkTools().then(
            () => true,
            () => false,
          );
          await (isAble ? node.heartbeat() : node.leave());
        },
      },
    ],
    services: { worker: () => ({ dispose: () => node.leave() }) },
  };
}
