import type { AudioInfo, VideoInfo } from '../contract/index.ts';
import { liveGuard } from '../ffmpeg/guard.ts';

export interface RecorderCommandInput {
  video: VideoInfo;
  audio: AudioInfo | undefined;
  file: string;
}

/**
 * Maximum duration of a fragment, which is held in memory until it is written: an encoder without keyframes
 * must not exhaust it. Also the most that is lost when the program is killed.
 */
const MAX_FRAGMENT_MICROSECONDS = 5_000_000;

/**
 * Returns the arguments of one recorder run (docs/decisions/recordings.md), without the program's name. The
 * file is fragmented MP4: at any moment it can be read up to its last complete fragment.
 */
export function recorderArgs({ video, audio, file }: RecorderCommandInput): string[] {
  return [
    ...['-v', 'warning', '-nostdin', '-y', '-fflags', '+genpts'],
    // The frame rate is not probed: that would take a second and a half of the broadcast.
    ...['-analyzeduration', '1500000', '-probesize', '1000000', '-fpsprobesize', '0'],
    ...liveGuard(video),
    ...['-map', '0:v:0', ...(audio === undefined ? [] : ['-map', '0:a:0'])],
    ...['-c:v', 'copy', ...(isHevc(video.codec) ? ['-tag:v', 'hvc1'] : [])],
    ...audioArgs(audio),
    ...['-max_muxing_queue_size', '1024', '-f', 'mp4'],
    ...['-movflags', '+frag_keyframe+empty_moov+default_base_moof'],
    ...['-frag_duration', String(MAX_FRAGMENT_MICROSECONDS), '-flush_packets', '1', `file:${file}`],
  ];
}

function audioArgs(audio: AudioInfo | undefined): string[] {
  if (audio === undefined) return [];
  if (audio.codec.startsWith('mp4a.40')) return ['-c:a', 'copy'];
  return ['-c:a', 'aac', '-b:a', '160k', '-ar', '48000', '-ac', '2'];
}

function isHevc(codec: string): boolean {
  return /^h(vc|ev)1/.test(codec);
}
