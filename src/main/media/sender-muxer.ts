import { openFfmpeg } from '../../media/ffmpeg/program.ts';
import { createMuxer } from '../../media/restream/muxer.ts';
import type { Muxer } from '../../media/restream/srt-push.ts';
import type { Config } from '../../platform/config.ts';
import { createLogger } from '../../platform/logger.ts';
import { createGuardCheck } from '../media-tools.ts';

/** Creates the muxer that a sender needs only for SRT: it is loaded with the first SRT target. */
export function createSenderMuxer(config: Config): Muxer {
  const guard = createGuardCheck(config);
  const log = createLogger(config.LOG_LEVEL, { process: 'sender' });
  return createMuxer(() => openFfmpeg(config.FFMPEG_PATH, guard()), log);
}
